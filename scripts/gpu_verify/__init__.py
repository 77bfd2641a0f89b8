"""What scripts/gpu-verify is made of: see there."""
