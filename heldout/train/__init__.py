"""From windows to a trained model: the plan of steps, the loop, checkpoints, prediction."""
