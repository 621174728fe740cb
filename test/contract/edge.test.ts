import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Contract } from '../../lib/api/contract.ts';
import { contracts } from '../../lib/api/index.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { errorCodes } from '../../lib/shared/errors.ts';
import { buildBasicAuth, type CallResult, callEndpoint } from '../../testing/call.ts';
import { givenApp } from '../../testing/given.ts';
import { createTestTable } from '../../testing/table.ts';

let keys: IssuedApiKeys;
beforeAll(async () => {
  keys = await givenApp(await createTestTable());
});

const secret = () => buildBasicAuth(keys.appName, keys.secretKey);
const locked = contracts.filter(({ keyLevel }) => keyLevel !== 'none');
const named = (list: readonly Contract[]) => list.map((contract) => [contract.id, contract] as const);

/** The status that the caller is told, in whichever dialect. */
function expectRefusal(contract: Contract, response: CallResult, status: number, code: keyof typeof errorCodes): void {
  if (contract.errorFormat === 'client-token') {
    expect(response).toMatchObject({ status: 200, body: { success: false, message: expect.any(String) } });
    return;
  }
  // The processor's callers know one number, whatever is wrong.
  const number = contract.errorFormat === 'processor' ? 6778003 : errorCodes[code].number;
  expect(response.status).toBe(contract.errorFormat === 'validation' ? 200 : status);
  expect(response.body).toMatchObject({ ok: false, status, code: contract.errorFormat === 'default' ? code : number });
  expect(response.body.message).toEqual(expect.any(String));
}

describe.each(named(locked))('%s', (_id, contract) => {
  it('refuses a call without credentials', async () => {
    expectRefusal(contract, await callEndpoint(contract, { body: {} }), 401, 'Forbidden');
  });

  it.each([
    ['a wrong key', () => buildBasicAuth(keys.appName, 'sec_wrong')],
    ['an unknown application', () => buildBasicAuth('nobody-knows', keys.secretKey)],
    ['a name that no application can have', () => buildBasicAuth(`${'x'.repeat(3000)}#`, keys.secretKey)],
    ['an empty key', () => buildBasicAuth(keys.appName, '')],
    ['another scheme', () => ({ authorization: `Digest ${keys.appName}` })],
  ])('refuses %s, always with the same words', async (_what, headers) => {
    const response = await callEndpoint(contract, { headers: headers(), body: {} });
    expectRefusal(contract, response, 401, 'Forbidden');
    expect(response.body.message).toMatch(/do not match|missing/);
  });

  it('accepts the key as Basic, as Bearer and in the query', async () => {
    const pair = Buffer.from(`${keys.appName}:${keys.secretKey}`).toString('base64');
    const forms = [
      { headers: { Authorization: `bAsIc ${pair}` } },
      { headers: { authorization: `Bearer ${pair}` } },
      { query: { appName: keys.appName, apiKey: keys.secretKey } },
    ];
    for (const form of forms) {
      const response = await callEndpoint(contract, { ...form, params: { appName: keys.appName }, body: {} });
      expect([401, 403]).not.toContain(response.body.status);
    }
  });
});

describe.each(named(contracts.filter(({ keyLevel }) => keyLevel === 'secret')))('%s', (_id, contract) => {
  it('refuses the public key', async () => {
    expectRefusal(
      contract,
      await callEndpoint(contract, { headers: buildBasicAuth(keys.appName, keys.publicKey), body: {} }),
      403,
      'Forbidden',
    );
  });

  it('is not offered to browsers of other sites', async () => {
    const response = await callEndpoint(contract, { headers: secret(), body: {} });
    expect(response.headers).not.toHaveProperty('Access-Control-Allow-Origin');
  });
});

describe.each(named(contracts.filter(({ keyLevel }) => keyLevel !== 'secret')))('%s', (_id, contract) => {
  it('carries CORS on every answer, errors too', async () => {
    const responses = [
      await callEndpoint(contract, {}),
      await callEndpoint(contract, { headers: secret(), body: '{' }),
    ];
    for (const { headers } of responses) expect(headers).toMatchObject({ 'Access-Control-Allow-Origin': '*' });
  });
});

describe.each(named(contracts.filter(({ body }) => body)))('%s', (_id, contract) => {
  it.each([
    ['truncated JSON', '{"id":"a","type":'],
    ['no body', undefined],
    ['null', 'null'],
    ['a list', '[]'],
    ['a number', '42'],
    ['fields of the wrong type', { id: 7, type: [], transaction: 'x', purchaseId: {}, applicationUsername: {} }],
    ['100,000 levels of nesting', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['a deep field', `{"id":"a","purchaseId":"store_a:1","transaction":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}`],
  ])('answers %s with InvalidPayload', async (_what, body) => {
    const response = await callEndpoint(contract, { headers: secret(), ...(body !== undefined && { body }) });
    expectRefusal(contract, response, 400, 'InvalidPayload');
  });

  it('answers a body of more than 2 MB with 413', async () => {
    const response = await callEndpoint(contract, { headers: secret(), body: { id: 'x'.repeat(5_000_000) } });
    expectRefusal(contract, response, 413, 'InvalidPayload');
  });
});

const withParams = contracts.filter(({ params }) => params);

describe.each(named(withParams))('%s', (_id, contract) => {
  const prefix = contract.path.slice(0, contract.path.indexOf(':'));
  const rest = contract.path.slice(contract.path.indexOf(':')).replace(/^:\w+/, '');

  it.each([
    ['broken percent encoding', '%E0%A4%A'],
    ['a parameter longer than a key can be', 'x'.repeat(1_500)],
  ])('answers %s with InvalidPayload', async (_what, segment) => {
    const path = `${prefix}${segment}${rest}`;
    const response = await callEndpoint(contract, { headers: secret(), path, body: { purchaseId: 'store_a:1' } });
    expectRefusal(contract, response, 400, 'InvalidPayload');
  });
});

describe('a resource that does not exist', () => {
  const one = (id: string) => {
    const contract = contracts.find((candidate) => candidate.id === id);
    if (!contract) throw new Error(`there is no contract ${id}`);
    return contract;
  };

  it.each(['get-purchase', 'get-transaction', 'add-customer-purchase'])('is ResourceNotFound for %s', async (id) => {
    const response = await callEndpoint(one(id), { headers: secret(), body: { purchaseId: 'store_a:none' } });
    expectRefusal(one(id), response, 404, 'ResourceNotFound');
  });

  it('is, as a customer, somebody without purchases', async () => {
    const response = await callEndpoint(one('get-customer-purchases'), {
      headers: secret(),
      params: { applicationUsername: 'nobody' },
    });
    expect(response).toMatchObject({ status: 200, body: { applicationUsername: 'nobody', purchases: {} } });
  });
});
