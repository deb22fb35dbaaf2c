//! Messages to real agents: each whole, once, whatever the agent and its user are doing.
