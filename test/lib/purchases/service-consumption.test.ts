import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dayMs } from '../../../lib/foundation/time.ts';
import {
  chooseLaterConsumption,
  restoreBeforeConsumption,
  type ServiceConsumption,
  withServiceConsumption,
} from '../../../lib/purchases/service-consumption.ts';

const Consumption: fc.Arbitrary<ServiceConsumption> = fc.record({
  date: fc.integer({ min: 0, max: 3 }),
  username: fc.constantFrom('ann', 'bob'),
  before: fc.record({ quantity: fc.integer({ min: 1, max: 2 }) }),
});

describe('chooseLaterConsumption', () => {
  it('returns the same result in any order', () => {
    fc.assert(
      fc.property(Consumption, Consumption, Consumption, (a, b, c) => {
        const result = chooseLaterConsumption(chooseLaterConsumption(a, b), c);
        expect(chooseLaterConsumption(chooseLaterConsumption(c, b), a)).toEqual(result);
        expect(chooseLaterConsumption(result, b)).toEqual(result);
      }),
    );
  });
});

describe('restoreBeforeConsumption', () => {
  it('returns the purchase as before the consumption to its customer only, for at least a day', () => {
    const purchase = { isConsumed: false, isAcknowledged: false, quantity: 5 };
    const planned = withServiceConsumption(purchase, 'ann', 0);
    const consumed = { ...planned, isConsumed: true, isAcknowledged: true, quantity: 0 };
    expect(restoreBeforeConsumption(consumed, 'ann', dayMs)).toEqual(planned);
    expect(restoreBeforeConsumption(consumed, 'ann', 3 * dayMs)).toEqual(consumed);
    expect(restoreBeforeConsumption(consumed, 'bob', 0)).toEqual(consumed);
    expect(restoreBeforeConsumption(consumed, undefined, 0)).toEqual(consumed);
    expect(restoreBeforeConsumption({ ...consumed, isConsumed: false }, 'ann', 0)).toMatchObject({ quantity: 0 });
  });
});
