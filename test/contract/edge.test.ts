import { describe, expect, it } from '@jest/globals';
import type { Contract } from '../../lib/api/contract.ts';
import { contracts } from '../../lib/contracts/index.ts';
import { errorCodes } from '../../lib/foundation/errors.ts';
import { buildBasicAuth, type CallResult, callEndpoint } from '../../testing/call.ts';
import { givenApp } from '../../testing/given-app.ts';
import { sampleItems } from '../../testing/sample.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { createTestTable } from '../../testing/table.ts';

const keys = startBeforeAll(async () => await givenApp(await createTestTable()));

const buildSecretAuth = () => buildBasicAuth(keys.appName, keys.secretKey);
const contractsWithKey = contracts.filter(({ keyLevel }) => keyLevel !== 'none');
const withIds = (list: readonly Contract[]) => list.map((contract) => [contract.id, contract] as const);

/** Expects an error in the error format of the contract. */
function expectError(contract: Contract, response: CallResult, status: number, code: keyof typeof errorCodes): void {
  if (contract.errorFormat === 'client-token') {
    expect(response).toMatchObject({ status: 200, body: { success: false, message: expect.any(String) } });
    return;
  }
  if (contract.errorFormat === 'openiap') {
    expect(response).toMatchObject({
      status,
      body: { errors: [{ code: expect.any(String), message: expect.any(String) }] },
    });
    return;
  }
  // The processor endpoints use one number for all errors.
  const number = contract.errorFormat === 'processor' ? 6778003 : errorCodes[code].number;
  expect(response.status).toBe(contract.errorFormat === 'validation' ? 200 : status);
  expect(response.body).toMatchObject({ ok: false, status, code: contract.errorFormat === 'default' ? code : number });
  expect(response.body.message).toEqual(expect.any(String));
}

describe.each(withIds(contractsWithKey))('%s', (_id, contract) => {
  it('rejects a request without credentials', async () => {
    expectError(contract, await callEndpoint(contract, { body: {} }), 401, 'Forbidden');
  });

  it.each([
    ['a wrong key', () => buildBasicAuth(keys.appName, 'sec_wrong')],
    ['an empty key', () => buildBasicAuth(keys.appName, '')],
    ['another scheme', () => ({ authorization: `Digest ${keys.appName}` })],
  ])('rejects %s with the same message', async (_case, headers) => {
    const response = await callEndpoint(contract, { headers: headers(), body: {} });
    expectError(contract, response, 401, 'Forbidden');
    expect(response.body.message ?? response.body.errors[0].message).toMatch(/do not match|missing/);
  });

  it.each([
    ['an unknown app', 'unknown-app'],
    ['an invalid app name', `${'x'.repeat(3000)}#`],
  ])('rejects %s as AppNotFound', async (_case, appName) => {
    const response = await callEndpoint(contract, { headers: buildBasicAuth(appName, keys.secretKey), body: {} });
    expectError(contract, response, 401, 'AppNotFound');
    expect(response.body.message ?? response.body.errors[0].message).toBe('No app has this name.');
  });

  it('accepts the key in a Basic header, a Bearer header and the query string', async () => {
    const pair = Buffer.from(`${keys.appName}:${keys.secretKey}`).toString('base64');
    const credentials = [
      { headers: { Authorization: `bAsIc ${pair}` } },
      { headers: { authorization: `Bearer ${pair}` } },
      { query: { appName: keys.appName, apiKey: keys.secretKey } },
    ];
    for (const options of credentials) {
      const response = await callEndpoint(contract, { ...options, params: { appName: keys.appName }, body: {} });
      expect([401, 403]).not.toContain(response.body.status);
    }
  });
});

describe.each(withIds(contracts.filter(({ keyLevel }) => keyLevel === 'secret')))('%s', (_id, contract) => {
  it('rejects the public key', async () => {
    expectError(
      contract,
      await callEndpoint(contract, { headers: buildBasicAuth(keys.appName, keys.publicKey), body: {} }),
      403,
      'Forbidden',
    );
  });

  it('responds without CORS headers', async () => {
    const response = await callEndpoint(contract, { headers: buildSecretAuth(), body: {} });
    expect(response.headers).not.toHaveProperty('Access-Control-Allow-Origin');
  });
});

describe.each(withIds(contracts.filter(({ keyLevel }) => keyLevel !== 'secret')))('%s', (_id, contract) => {
  it('responds with CORS headers, in errors too', async () => {
    const responses = [
      await callEndpoint(contract, {}),
      await callEndpoint(contract, { headers: buildSecretAuth(), body: '{' }),
    ];
    for (const { headers } of responses) expect(headers).toMatchObject({ 'Access-Control-Allow-Origin': '*' });
  });
});

const contractsWithBody = contracts.filter(({ body }) => body);
const deepBodies = [
  ['100,000 levels of nesting', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ['a deep field', `{"id":"a","purchaseId":"store_a:1","transaction":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}`],
] as const;
const contractsWithDeepBodies = sampleItems(contractsWithBody, 6);

describe.each(withIds(contractsWithBody))('%s', (_id, contract) => {
  it.each([
    ...(contractsWithDeepBodies.includes(contract) ? deepBodies : []),
    ['truncated JSON', '{"id":"a","type":'],
    ['no body', undefined],
    ['null', 'null'],
    ['a list', '[]'],
    ['a number', '42'],
    [
      'fields of the wrong type',
      { id: 7, type: [], transaction: 'x', purchaseId: {}, applicationUsername: {}, nonce: [], sandbox: [] },
    ],
  ])('rejects %s with InvalidPayload', async (_case, body) => {
    // The body of some contracts is a list.
    if (contract.body?.type === 'array' && body === '[]') return;
    const response = await callEndpoint(contract, { headers: buildSecretAuth(), ...(body !== undefined && { body }) });
    expectError(contract, response, 400, 'InvalidPayload');
  });

  it('rejects a body of more than 2 MB with 413', async () => {
    const response = await callEndpoint(contract, { headers: buildSecretAuth(), body: { id: 'x'.repeat(5_000_000) } });
    expectError(contract, response, 413, 'InvalidPayload');
  });
});

describe.each(withIds(contracts.filter(({ params }) => params)))('%s', (_id, contract) => {
  const prefix = contract.path.slice(0, contract.path.indexOf(':'));
  const rest = contract.path.slice(contract.path.indexOf(':')).replace(/^:\w+/, '');

  it.each([
    ['invalid percent encoding', '%E0%A4%A'],
    ['a parameter that exceeds the length of a sort key', 'x'.repeat(1_500)],
  ])('rejects %s with InvalidPayload', async (_case, segment) => {
    const path = `${prefix}${segment}${rest}`;
    const response = await callEndpoint(contract, {
      headers: buildSecretAuth(),
      path,
      body: { purchaseId: 'store_a:1' },
    });
    expectError(contract, response, 400, 'InvalidPayload');
  });
});

describe('missing resources', () => {
  it.each(['add-customer-purchase', 'refresh-purchase-now', 'replay-delivery'])(
    'cause ResourceNotFound in %s',
    async (id) => {
      const contract = contracts.find((candidate) => candidate.id === id) as Contract;
      const options = { headers: buildSecretAuth(), body: { purchaseId: 'store_a:none' } };
      expectError(contract, await callEndpoint(contract, options), 404, 'ResourceNotFound');
    },
  );
});
