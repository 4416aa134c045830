"""Training the pointer splitter: targets, examples, network, training, export, evaluation."""
