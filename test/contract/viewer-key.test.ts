import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Contract, isForSecretKeyOnly } from '../../lib/api/contract.ts';
import { type ApiKeyLevel, apiKeyLevels } from '../../lib/apps/app.ts';
import { type CreatedKey, changeSettings, createApiKey } from '../../lib/apps/manage-apps.ts';
import { contracts } from '../../lib/contracts/index.ts';
import { createTokenKeys } from '../../lib/entitlements/token-key.ts';
import { getOrCreateTokenKeys } from '../../lib/entitlements/token-key-table.ts';
import type { EventRecord } from '../../lib/events/event.ts';
import { listEvents } from '../../lib/events/event-list-table.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import type { Item } from '../../lib/foundation/table.ts';
import { getRefreshToken } from '../../lib/purchases/contract.ts';
import { buildBasicAuth, type CallResult, callEndpoint } from '../../testing/call.ts';
import { formatItem, scanItems } from '../../testing/dump-items.ts';
import {
  type AppWithData,
  callAllPaths,
  givenAppData,
  listDataRequests,
  readContracts,
} from '../../testing/given-app-data.ts';
import { sampleItems } from '../../testing/sample.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const table = `viewer-${process.pid}`;
const service = startBeforeAll(async () => await startTestService(table));
let app: AppWithData;
const keys = {} as Record<ApiKeyLevel, CreatedKey>;
beforeAll(async () => {
  const appKeys = await service.createApp(['processor_a']);
  app = { keys: appKeys, canary: 'canary', dollars: 5, payments: 2 };
  await givenAppData(app);
  for (const level of apiKeyLevels)
    keys[level] = await createApiKey(getService(), appKeys.appName, {
      level,
      name: `test ${level}`,
      now: getService().now(),
    });
  await getOrCreateTokenKeys(getService(), appKeys.appName, () => createTokenKeys(getService().now()));
  // Responses contain ages.
  service.freezeClock();
});

const protectedContracts = contracts.filter(({ keyLevel }) => keyLevel !== 'none');
const withIds = (list: readonly Contract[]) => list.map((contract) => [contract.id, contract] as const);

/** Returns the message of an error, in any error format. */
const getMessage = (body: CallResult['body']): string => body.message ?? body.errors[0].message;

const isAllowed = ({ additionalLevels = [], ...contract }: Contract, level: 'viewer' | 'support'): boolean =>
  additionalLevels.includes(level) || (contract.method === 'GET' && !isForSecretKeyOnly(contract));

/** Calls a contract with a key: a GET contract for data that the app has, another one with an empty body. */
async function callWith(level: ApiKeyLevel, contract: Contract): Promise<CallResult[]> {
  const { appName } = app.keys;
  const credentials = { appName, key: keys[level].key };
  if (contract.method !== 'GET')
    return [await callEndpoint(contract, { headers: buildBasicAuth(appName, credentials.key), body: {} })];
  const responses: CallResult[] = [];
  for (const options of listDataRequests(contract, app))
    responses.push(...(await callAllPaths(contract, credentials, options)));
  return responses;
}

/** Calls one second after all earlier calls, and returns the events that were recorded. */
async function recordEvents(call: () => Promise<unknown>): Promise<EventRecord[]> {
  service.freezeClock();
  const startdate = getService().now();
  await call();
  return await listEvents(getService(), app.keys.appName, { startdate, limit: 1_000, skip: 0 });
}

const formatItems = (items: readonly Item[]): string[] => items.map(formatItem).sort();

describe('viewer key', () => {
  it('changes nothing but its own events through any operation', async () => {
    const unchanged = formatItems(await scanItems(table));
    const eventIds: string[] = [];
    for (const contract of protectedContracts) {
      const events = await recordEvents(async () => {
        await callWith('viewer', contract);
      });
      const statuses = [...new Set(events.map(({ outcome }) => outcome.status))];
      expect({ id: contract.id, statuses }).toEqual({
        id: contract.id,
        statuses: [isAllowed(contract, 'viewer') ? 200 : 403],
      });
      eventIds.push(...events.map(({ eventId }) => eventId));
    }
    // The tags of an event are separate items.
    const isOfEvent = (text: string) => eventIds.some((eventId) => text.includes(eventId));
    expect(formatItems(await scanItems(table)).filter((text) => !isOfEvent(text))).toEqual(unchanged);
  });

  it.each(
    withIds(protectedContracts.filter((contract) => contract.method !== 'GET' && !isAllowed(contract, 'viewer'))),
  )('rejects the key at: %s', async (_id, contract) => {
    const [response] = await callWith('viewer', contract);
    expect(getMessage(response?.body)).toBe(`A viewer key can only read. The ${contract.keyLevel} key is required.`);
  });
});

describe('support key', () => {
  it('changes what support needs, and nothing else', () => {
    const changing = protectedContracts.filter(
      (contract) => contract.method !== 'GET' && isAllowed(contract, 'support'),
    );
    expect(changing.map(({ id }) => id).toSorted()).toEqual([
      'act-on-purchase',
      'add-customer-purchase',
      'answer-refund-request',
      'change-grant',
      'create-entitlement-token',
      'create-grant',
      'give-credits',
      'refresh-purchase-now',
      'repeat-webhook',
      'replay-deliveries',
      'replay-delivery',
      'revoke-grant',
      'take-credits',
    ]);
  });

  it.each(withIds(protectedContracts.filter((contract) => !isAllowed(contract, 'support'))))(
    'rejects the key at: %s',
    async (_id, contract) => {
      for (const { status, body } of await callWith('support', contract)) {
        const hasErrorsIn200 = contract.errorFormat === 'validation' || contract.errorFormat === 'client-token';
        expect(status).toBe(hasErrorsIn200 ? 200 : 403);
        expect(getMessage(body)).toMatch(/A support key reads|The secret key is required/);
      }
    },
  );
});

/** Lists the contracts whose responses to a key contain a refresh token. */
async function listContractsWithToken(level: ApiKeyLevel): Promise<string[]> {
  const ids = new Set<string>();
  for (const contract of readContracts)
    for (const { body } of await callWith(level, contract))
      if (/"refresh_?token"/i.test(JSON.stringify(body))) ids.add(contract.id);
  return [...ids];
}

describe('refresh token of a purchase', () => {
  it('appears in the responses of a single contract, to the secret key only', async () => {
    expect(await listContractsWithToken('secret')).toEqual(['get-refresh-token']);
    for (const level of sampleItems(['viewer', 'support', 'public'] as const, 1))
      expect(await listContractsWithToken(level)).toEqual([]);
  });

  it.each(['viewer', 'public'] as const)('requires the secret key instead of the %s key', async (level) => {
    const responses = await callWith(level, getRefreshToken);
    expect(responses.length).toBeGreaterThan(1);
    for (const { status, body } of responses)
      expect({ status, body }).toMatchObject({ status: 403, body: { message: 'The secret key is required.' } });
  });
});

describe('key of a request', () => {
  it.each(withIds(protectedContracts))('appears in each event of %s', async (id, contract) => {
    for (const level of sampleItems(apiKeyLevels, 1, id)) {
      let count = 0;
      const events = await recordEvents(async () => {
        count = (await callWith(level, contract)).length;
      });
      const { id: keyId, name } = keys[level];
      expect(events.map(({ type, key }) => ({ type, key }))).toEqual(
        Array.from({ length: count }, () => ({ type: contract.eventType, key: { id: keyId, name, level } })),
      );
    }
  });
});

describe('viewer key without recorded reads', () => {
  beforeAll(async () => {
    await changeSettings(getService(), app.keys.appName, { recordsReads: false });
    await service.callControl('/clock', { advance: 'PT1M' });
    service.freezeClock();
  });

  const viewerContracts = readContracts.filter((contract) => !isForSecretKeyOnly(contract));
  it.each(withIds(viewerContracts))('receives the same response as the secret key: %s', async (id, contract) => {
    const [expected, actual] = [await callWith('secret', contract), await callWith('viewer', contract)];
    expect(actual.length).toBeGreaterThan(0);
    expect(expected.map(({ status }) => status)).toEqual(expected.map(() => 200));
    // The only difference: the settings name the key of the request.
    const omitKey = ({ status, body: { key, ...body } }: CallResult) => ({ status, body });
    expect(actual.map(omitKey)).toEqual(expected.map(omitKey));
    if (id === 'get-app') {
      const { key: _key, id: keyId, name, level } = { ...keys.viewer };
      expect(actual[0]?.body.key).toEqual({ id: keyId, name, level });
    }
  });
});
