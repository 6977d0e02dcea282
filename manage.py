#!/usr/bin/env python
import sys

from detiq_admin.entry import main

if __name__ == "__main__":
    main(sys.argv)
