"""The lab: training of the shipped models, the published LSTM models, WebSplit and diagnostics."""
