import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { countBucketWrites, type Flood, listKeyFloods } from '../../bench/flood-requests.ts';
import { type Meter, startMeter } from '../../bench/units/meter.ts';
import { minRequestsPerSecond } from '../../lib/api/limits.ts';
import { getKeyId, hashApiKey } from '../../lib/apps/app.ts';
import { changeSettings, type IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import {
  countAcceptedRequest,
  getRequestBucketSize,
  rejectedReceiptCost,
  requestCost,
  requestReportSize,
} from '../../lib/apps/request-limiter.ts';
import { getCustomerPurchases } from '../../lib/customers/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { validateReceipt } from '../../lib/validation/contract.ts';
import { callEndpoint, callWithPublicKey, callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

const rounds = 2;
const requestsPerRound = 40;

/** Tokens that the flood finds. A full bucket needs thousands of requests. */
const remainingTokens = 50;

let meter: Meter;
let service: TestService;
beforeAll(async () => {
  meter = await startMeter(process.env.TEST_DYNAMODB_ENDPOINT ?? '');
  process.env.DYNAMODB_ENDPOINT = meter.endpoint;
  service = await startTestService(`key-flood-${process.pid}`);
});
afterAll(async () => {
  await service.close();
  await meter.close();
});
beforeEach(() => {
  jest.spyOn(console, 'warn').mockImplementation(() => {});
});

const address = '192.0.2.5';

interface Clients {
  readonly keys: IssuedApiKeys;
  readonly otherKeys: IssuedApiKeys;
  readonly receipt: object;
  readonly username: string;
}

/** Takes all tokens but `remainingTokens` of an address, or of the public key. */
async function emptyBucket({ appName, publicKey }: IssuedApiKeys, sourceIp?: string): Promise<void> {
  const source = {
    appName,
    keyId: getKeyId({ digest: hashApiKey(publicKey) }),
    requestsPerSecond: minRequestsPerSecond,
    ...(sourceIp !== undefined && { address: sourceIp }),
  };
  const { capacity } = getRequestBucketSize(sourceIp ? 'request-address' : 'request-key', minRequestsPerSecond);
  for (let taken = requestReportSize; taken <= capacity; taken += requestReportSize)
    await countAcceptedRequest(getService(), source, requestReportSize);
  await countAcceptedRequest(getService(), source, requestReportSize - remainingTokens);
}

const buyPremium = async (applicationUsername: string): Promise<object> => {
  const order = { platform: 'store_a', productId: 'premium', type: 'paid subscription', applicationUsername };
  return (await service.callControl('/purchases', order)).validate;
};

/** Validations of a second client and of a second app, and a read of the app's server. */
async function listOtherResponses({ keys, otherKeys, receipt, username }: Clients): Promise<unknown[]> {
  const validation = { body: receipt, sourceIp: '198.51.100.7' };
  const client = await callWithPublicKey(validateReceipt, keys, validation);
  const otherApp = await callWithPublicKey(validateReceipt, otherKeys, validation);
  const params = { applicationUsername: username };
  const server = await callWithSecretKey(getCustomerPurchases, keys, { params, sourceIp: address });
  return [client.body.ok, otherApp.body.ok, Object.keys(server.body.purchases)];
}

describe('client with the public key of an app above the limit of requests', () => {
  it.each(
    listKeyFloods({ appName: 'any', publicKey: 'any', secretKey: 'any' }, {}).map(
      ({ name }, index) => [name, index] as const,
    ),
  )('gets 429, while the server and other apps get their responses: %s', async (_name, index) => {
    const keys = await service.createApp(['store_a']);
    const otherKeys = await service.createApp(['store_a']);
    await changeSettings(getService(), keys.appName, { requestsPerSecond: minRequestsPerSecond });
    const username = createUniqueName('user');
    const receipt = await buyPremium(username);
    const clients = { keys, otherKeys, receipt, username };
    expect(await listOtherResponses(clients)).toEqual([true, true, ['store_a:premium']]);
    const { contract, buildRequest, usesUpKey = false } = listKeyFloods(keys, receipt)[index] as Flood;
    const isReceiptWrong = !isDeepStrictEqual(buildRequest(0).body, receipt);
    // A bucket fills as time passes.
    service.freezeClock();
    await emptyBucket(keys, usesUpKey ? undefined : buildRequest(0).sourceIp);
    meter.takeCalls();
    const statuses: number[] = [];
    for (let round = 0; round < rounds; round++) {
      for (let number = 0; number < requestsPerRound; number++) {
        const { status, body } = await callEndpoint(contract, buildRequest(round * requestsPerRound + number));
        statuses.push(body.status ?? status);
      }
      // The clients of the app have the key of the flood.
      expect(await listOtherResponses(clients)).toEqual([!usesUpKey, true, ['store_a:premium']]);
    }
    const accepted = remainingTokens / (isReceiptWrong ? rejectedReceiptCost : requestCost);
    expect(statuses).toEqual([
      ...Array.from({ length: accepted }, () => (isReceiptWrong ? 400 : 200)),
      ...Array.from({ length: rounds * requestsPerRound - accepted }, () => 429),
    ]);
    // At most one report for each source.
    expect(countBucketWrites(meter.takeCalls())).toBeLessThanOrEqual(3);
  });
});
