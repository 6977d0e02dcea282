#!/usr/bin/env bash
set -euo pipefail
# Builds the image, runs the smoke tests, rolls out.
docker build -t depot:"$1" .
docker run --rm depot:"$1" pytest -q tests/smoke
kubectl set image deployment/depot depot=depot:"$1"
kubectl rollout status deployment/depot --timeout=120s
