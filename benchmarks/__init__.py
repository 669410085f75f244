"""Speed and memory of pengp beside its rivals, as ratios in one run."""
