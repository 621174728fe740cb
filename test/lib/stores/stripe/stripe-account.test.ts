import { describe, expect, it } from '@jest/globals';
import { openStripeAccount } from '../../../../lib/stores/stripe/stripe-account.ts';
import { stoppedStopwatch } from '../../../../testing/stopwatch.ts';

const context = {
  appName: 'app',
  fetch: () => Promise.reject(new Error('not called')),
  now: () => 0,
  stopwatch: stoppedStopwatch,
};

describe('openStripeAccount', () => {
  it.each(['processor_a', 'service_processor_a'] as const)('names the platform without settings: %s', (platform) => {
    expect(() => openStripeAccount(platform, { ...context, settings: undefined })).toThrow(
      `The app has no ${platform} settings.`,
    );
  });

  it.each(['processor_a', 'service_processor_a'] as const)(
    'names the platform with invalid settings: %s',
    (platform) => {
      expect(() => openStripeAccount(platform, { ...context, settings: { secretKey: 7 } })).toThrow(
        `The ${platform} settings of the app are not valid.`,
      );
    },
  );
});
