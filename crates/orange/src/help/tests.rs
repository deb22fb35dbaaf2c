//! Every command, flag, example and topic, looked at through the tree that clap parses by.
