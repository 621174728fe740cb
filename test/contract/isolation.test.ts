import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Contract } from '../../lib/api/contract.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import type { CallOptions, CallResult } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import {
  type AppWithData,
  callAllPaths,
  givenAppData,
  listDataRequests,
  readContracts,
} from '../../testing/given-app-data.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const service = startBeforeAll(startTestService);
let sides: readonly [AppWithData, AppWithData];
const name = createUniqueName();

beforeAll(async () => {
  sides = [
    { keys: await service.createApp(['processor_a'], {}, name), canary: 'CANARY-one', dollars: 1_111, payments: 2 },
    // The first name is a prefix of the second name.
    {
      keys: await service.createApp(['processor_a'], {}, `${name}-x`),
      canary: 'CANARY-two',
      dollars: 7_777,
      payments: 3,
    },
  ];
  for (const side of sides) await givenAppData(side);
});

const withIds = (list: readonly Contract[]) => list.map((contract) => [contract.id, contract] as const);
const callWithSecret = async (contract: Contract, { appName, secretKey }: IssuedApiKeys, options: CallOptions) =>
  await callAllPaths(contract, { appName, key: secretKey }, options);

/** The clock can pass a second between two responses. */
const withoutTime = (body: string) => body.replaceAll(/"asOf":"[^"]+"/g, '"asOf":"now"');

/** Lists texts that only responses to this app can contain. */
const listTraces = ({ keys, canary, dollars, payments }: AppWithData): string[] => [
  canary,
  `"${keys.appName}"`,
  `:${dollars}`,
  `:${dollars * payments}`,
  // The two purchases without an amount have one transaction each.
  `"thisMonth":${payments + 2},`,
  `"lastMonth":${payments + 2},`,
];

const findTraces = ({ body }: CallResult, side: AppWithData): string[] =>
  listTraces(side).filter((trace) => JSON.stringify(body).includes(trace));

describe('two apps with the same ids', () => {
  it.each(withIds(readContracts))('receive only their own data from %s', async (_id, contract) => {
    for (const [own, other] of [sides, sides.toReversed() as [AppWithData, AppWithData]]) {
      for (const options of listDataRequests(contract, own)) {
        for (const response of await callWithSecret(contract, own.keys, options)) {
          expect(response.status).toBe(200);
          expect(findTraces(response, own)).not.toEqual([]);
          expect(findTraces(response, other)).toEqual([]);
        }
      }
    }
  });

  it.each(withIds(readContracts.filter(({ params }) => params)))(
    'receive the same response from %s for data of the other app and for unknown ids',
    async (_id, contract) => {
      const clientKeys = await service.createApp([]);
      const callFor = async (id: string, appName: string) => {
        const params = {
          applicationUsername: id,
          tag: id,
          id: `event-${id}`,
          appName,
          purchaseId: `store_a:${id}`,
          transactionId: `store_a:${id}-0`,
        };
        const [first] = await callWithSecret(contract, clientKeys, { params });
        return [first?.status, withoutTime(JSON.stringify(first?.body)).replaceAll(id, 'it')];
      };
      for (const { canary, keys } of sides)
        expect(await callFor(canary, keys.appName)).toEqual(await callFor(`no-${canary}`, 'no-app'));
    },
  );
});
