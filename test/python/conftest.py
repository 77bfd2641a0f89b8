import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/kv-import"), str(ROOT / "tools/kv-generate"),
                str(Path(__file__).resolve().parent)]
