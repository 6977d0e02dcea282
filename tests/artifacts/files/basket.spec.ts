import { test, expect } from '@playwright/test';

test.describe('basket', () => {
  test('keeps its lines after a reload', async ({ page }) => {
    await page.goto('/tools/spade');
    await page.getByRole('button', { name: 'Add to basket' }).click();
    await page.reload();
    await expect(page.getByTestId('basket-count')).toHaveText('1');
  });
});
