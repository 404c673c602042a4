//! People: sign-in, sessions, tokens, links, what is audited.
