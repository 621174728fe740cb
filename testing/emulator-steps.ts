import type { Page } from 'playwright-core';
import type { ConsolePage } from './open-console.ts';

/** A step in the life of a subscription, and its traces on the emulator page. */
interface EmulatorStep {
  readonly name: string;
  /** Button of the page. */
  readonly button: string;
  /** Reason of the webhook. */
  readonly webhook: string;
  /** Figure of the statistics, and its value after the step. */
  readonly figure: readonly [label: string, value: string];
  /** Access in the words of the page. */
  readonly access: string;
}

/** A subscription is bought, renewed twice, not paid, recovered and refunded. */
export const emulatorSteps: readonly EmulatorStep[] = [
  { name: 'bought', button: 'Buy', webhook: 'PURCHASED', figure: ['New', '1'], access: 'Yes' },
  { name: 'renewed', button: 'Renew', webhook: 'RENEWED', figure: ['Renewed', '1'], access: 'Yes' },
  { name: 'renewed-twice', button: 'Renew', webhook: 'RENEWED', figure: ['Renewed', '2'], access: 'Yes' },
  {
    name: 'payment-failed',
    button: 'Fail a payment',
    webhook: 'ENTERED_GRACE_PERIOD',
    figure: ['Failed payments', '1'],
    access: 'Yes: in grace, the payment failed',
  },
  { name: 'recovered', button: 'Recover the payment', webhook: 'RENEWED', figure: ['Renewed', '3'], access: 'Yes' },
  { name: 'refunded', button: 'Refund', webhook: 'REFUNDED', figure: ['Refunded', '1'], access: 'Ended' },
];

/**
 * Performs a step on the emulator page, and waits until the page shows the access, the delivered webhook and the
 * figure.
 */
export async function performStep(page: Page, { button, webhook, figure: [label, value], access }: EmulatorStep) {
  const webhooks = page.getByRole('list', { name: 'Webhooks to the app' }).getByRole('listitem');
  const delivered = webhooks.filter({ hasText: webhook }).filter({ hasText: 'Delivered: HTTP 200' });
  const deliveredBefore = await delivered.count();
  await page.getByRole('button', { name: button, exact: true }).click();
  await page
    .locator('dt', { hasText: /^Access$/ })
    .locator('+ dd', { hasText: access })
    .waitFor();
  await delivered.nth(deliveredBefore).waitFor();
  await page.locator('.figure', { hasText: label }).locator('.figure-value', { hasText: value }).waitFor();
}

/** Leaves out the 404 that the page receives between a purchase at the store and the submission of its receipt. */
export const listProblems = ({ problems }: Pick<ConsolePage, 'problems'>): string[] =>
  problems.filter((problem) => !/status of 404 .*\/v3\/purchases\//.test(problem));
