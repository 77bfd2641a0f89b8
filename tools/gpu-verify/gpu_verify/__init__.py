"""What tools/gpu-verify/gpu-verify is made of: see there."""
