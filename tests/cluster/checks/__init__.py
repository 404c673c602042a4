"""The compiler's output against a real API server, real webhooks and real operators."""
