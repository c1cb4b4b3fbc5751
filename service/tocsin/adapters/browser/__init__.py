"""The browser worker: pages visited in browsers of their own, driven by Playwright, which it alone knows."""
