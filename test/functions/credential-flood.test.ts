import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { countExtraWrites, listCredentialFloods } from '../../bench/flood-requests.ts';
import { type Meter, startMeter } from '../../bench/units/meter.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getCustomerPurchases } from '../../lib/customers/contract.ts';
import { callEndpoint } from '../../testing/call.ts';
import { sampleItems } from '../../testing/sample.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

const rounds = 8;
const requestsPerRound = 80;

let meter: Meter;
let service: TestService;
let keys: IssuedApiKeys;
let receipt: object;
beforeAll(async () => {
  meter = await startMeter(process.env.TEST_DYNAMODB_ENDPOINT ?? '');
  process.env.DYNAMODB_ENDPOINT = meter.endpoint;
  service = await startTestService(`flood-${process.pid}`);
  keys = await service.createApp(['store_a'], {}, 'flooded');
  const order = { platform: 'store_a', productId: 'premium', type: 'paid subscription', applicationUsername: 'ann' };
  receipt = (await service.callControl('/purchases', order)).validate;
  await service.validate(keys, receipt);
});
afterAll(async () => {
  await service.close();
  await meter.close();
});
beforeEach(() => {
  jest.spyOn(console, 'warn').mockImplementation(() => {});
});

describe('a flood of rejected credentials', () => {
  it.each(sampleItems(listCredentialFloods('flooded'), 2))(
    'causes less than one write for 100 requests, and all validations succeed: $name',
    async ({ buildRequest }) => {
      meter.takeCalls();
      const statuses: number[] = [];
      for (let round = 0; round < rounds; round++) {
        // In turn, like the requests of one container.
        for (let index = 0; index < requestsPerRound; index++) {
          const request = buildRequest(round * requestsPerRound + index);
          statuses.push((await callEndpoint(getCustomerPurchases, request)).status);
        }
        expect((await service.validate(keys, receipt)).body).toMatchObject({ ok: true });
      }
      expect(statuses).toHaveLength(rounds * requestsPerRound);
      expect(statuses.filter((status) => status !== 401 && status !== 429)).toEqual([]);
      const extraWrites = countExtraWrites(meter.takeCalls(), rounds);
      expect(extraWrites).toBeGreaterThan(0);
      expect(extraWrites).toBeLessThan(statuses.length / 100);
    },
  );
});
