import { describe, expect, it } from '@jest/globals';
import { completeCommand, createFinding } from '../../../lib/health/finding.ts';

describe('completeCommand', () => {
  const diagnosis = { problem: 'It is wrong.', cure: 'Correct the settings and run `app set-store`.' };

  it('names the app and the store in the command of a finding', () => {
    const finding = createFinding('store-settings-invalid', diagnosis, { app: 'shop', platform: 'store_a' });
    expect(completeCommand(finding).cure).toBe('Correct the settings and run `app set-store shop store_a <file>`.');
  });

  it('returns a finding about the whole service unchanged', () => {
    const finding = createFinding('table-slow', diagnosis);
    expect(completeCommand(finding)).toEqual(finding);
  });
});
