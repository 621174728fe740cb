import { describe, expect, it } from '@jest/globals';
import { minuteMs } from '../../../lib/foundation/time.ts';
import { compareProblems } from '../../../lib/problems/compare-problems.ts';
import type { Problem } from '../../../lib/problems/describe-problems.ts';

const startedAt = Date.parse('2026-03-01T12:00:00Z');
const warning: Problem = { id: 'store store_a', tone: 'warn', text: '2 of 10 requests failed.' };
const outage: Problem = { id: 'store store_a', tone: 'bad', text: '9 of 10 requests failed.' };

describe('compareProblems', () => {
  it('announces a problem once, whatever its text becomes', () => {
    const first = compareProblems([], [warning], startedAt);
    expect(first.started).toEqual([warning]);
    const later = { ...warning, text: '3 of 11 requests failed.' };
    const second = compareProblems(first.announced, [later], startedAt + 5 * minuteMs);
    expect(second).toMatchObject({ started: [], ended: [] });
    expect(second.announced).toEqual([{ ...warning, startedAt, presentAt: startedAt + 5 * minuteMs }]);
  });

  it('announces a problem again if it becomes worse, and not if it becomes better', () => {
    const first = compareProblems([], [warning], startedAt);
    const worse = compareProblems(first.announced, [outage], startedAt + 5 * minuteMs);
    expect(worse.started).toEqual([outage]);
    expect(worse.announced).toMatchObject([{ tone: 'bad', text: outage.text, startedAt }]);
    const better = compareProblems(worse.announced, [warning], startedAt + 10 * minuteMs);
    expect(better).toMatchObject({ started: [], ended: [] });
    expect(compareProblems(better.announced, [outage], startedAt + 15 * minuteMs).started).toEqual([]);
  });

  it('announces the end once, after ten minutes of absence', () => {
    const { announced } = compareProblems([], [outage], startedAt);
    const absent = compareProblems(announced, [], startedAt + 5 * minuteMs);
    expect(absent).toMatchObject({ started: [], ended: [] });
    const returned = compareProblems(absent.announced, [outage], startedAt + 9 * minuteMs);
    expect(returned.started).toEqual([]);
    const ended = compareProblems(returned.announced, [], startedAt + 19 * minuteMs);
    expect(ended).toMatchObject({ ended: [{ id: outage.id, startedAt }], announced: [] });
  });
});
