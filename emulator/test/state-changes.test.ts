import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { applyStateChange, computeChanges } from '../state-changes.ts';

const records = Array.from({ length: 6 }, (_, id) => ({ id }));
const Record = fc.constantFrom(...records);
const State = fc.record(
  {
    records: fc.array(Record),
    rows: fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), Record)),
    names: fc.array(fc.constantFrom('x', 'y', 'z')),
    settings: fc.dictionary(fc.constantFrom('u', 'v'), fc.oneof(fc.string(), fc.integer())),
    time: fc.integer(),
  },
  { requiredKeys: ['records', 'time'] },
);

const apply = (before: unknown, after: unknown): unknown =>
  JSON.parse(JSON.stringify(computeChanges(before, after))).reduce(applyStateChange, before);

describe('computeChanges', () => {
  it('returns changes that lead from one state to the other', () => {
    fc.assert(fc.property(State, State, (before, after) => expect(apply(before, after)).toEqual(after)));
  });

  it('returns nothing for a new list of the same elements', () => {
    const toState = () => ({ records: [...records], rows: records.map((record) => [String(record.id), record]) });
    expect(computeChanges(toState(), toState())).toEqual([]);
  });

  it('contains only the replaced and the added elements of a list', () => {
    const replaced = { id: 1 };
    const added = { id: 7 };
    const [first, , ...others] = records;
    expect(computeChanges({ records }, { records: [first, replaced, ...others.slice(1), added] })).toEqual([
      {
        path: ['records'],
        parts: [{ copy: [0, 1] }, { insert: [replaced] }, { copy: [3, 6] }, { insert: [added] }],
      },
    ]);
  });
});
