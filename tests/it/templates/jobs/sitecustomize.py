"""Python imports this first. The xgboost template runs its own program, so its ranks sign the ledger here."""

import os

if os.environ.get("CUBELOOM_TASK") == "gang" and os.environ.get("CUBELOOM_PIPELINE") == "test-xgboost":
    import ledger

    ledger.sign()
