import { describe, expect, it } from '@jest/globals';
import { addCure } from '../../../lib/problems/add-cure.ts';

describe('addCure', () => {
  it('says where the cure of rejected settings is', () => {
    const text = 'Google Play rejected the settings: the key of the service account is deleted, disabled or wrong.';
    const problem = addCure({ id: 'store store_b', tone: 'bad', text: `The last request failed: ${text}` });
    expect(problem.text).toMatch(/deleted, disabled or wrong\. Check the settings with `doctor` or on the page Stores/);
  });

  it('names the worker and the schedule of late work', () => {
    const late = (id: string) => addCure({ id, tone: 'bad', text: 'Late.' }).text;
    expect(late('late-refreshes')).toBe('Late. Check the schedule and the log of `enqueue-due-items`.');
    expect(late('late-statistics')).toMatch(/^Late\. Check the schedule of `enqueue-due-items`/);
    expect(late('no-store')).toBe('Late.');
  });
});
