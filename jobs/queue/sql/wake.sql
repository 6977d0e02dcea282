SELECT detiq_wake(%(worker)s)
