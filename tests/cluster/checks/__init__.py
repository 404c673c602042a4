"""What the compiler prints, against a real API server, real webhooks and real operators."""
