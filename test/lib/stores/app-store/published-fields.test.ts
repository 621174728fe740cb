import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { dayMs } from '../../../../lib/foundation/time.ts';
import { isActive } from '../../../../lib/purchases/purchase.ts';
import type { StoreValidation } from '../../../../lib/stores/store.ts';
import {
  buildOneTimePayload,
  buildRenewalPayload,
  buildTransactionPayload,
  purchaseDate,
} from '../../../../testing/apple-payloads.ts';
import {
  createAppStore,
  createSubscriber,
  jsonResponse,
  validateSignedTransaction,
} from '../../../../testing/fake-apple.ts';
import { listVariants } from '../../../../testing/list-variants.ts';

type Fields = Record<string, unknown>;

/** Builds an object of a type of Apple's library with a value in each published field, at every level. */
function buildExample(model: string): Fields {
  const path = `node_modules/@apple/app-store-server-library/dist/models/${model}.d.ts`;
  const fields = readFileSync(path, 'utf8').matchAll(/^ {4}(\w+)\?: (.+);$/gm);
  return Object.fromEntries([...fields].map(([, field = '', type = '']) => [field, buildValue(type)]));
}

function buildValue(type: string): unknown {
  const [, name = '', list] = /^(\w+)(\[\])?/.exec(type) ?? [];
  const value = { string: 'TEXT', number: 1, boolean: false }[name] ?? buildObject(name, type);
  return list ? [value] : value;
}

/** An enumeration has the type of its values as its second one. */
const buildObject = (name: string, type: string): unknown =>
  type.endsWith('| string') ? 'TEXT' : type.endsWith('| number') ? 1 : buildExample(name);

/** The transaction and the renewal of an active subscription with a value in each published field. */
const payloads = {
  transaction: {
    ...buildExample('JWSTransactionDecodedPayload'),
    /** @see https://developer.apple.com/documentation/appstoreserverapi/transactionmultiseatinfo */
    multiSeatInfo: { priceTiers: [{ price: 4990, quantity: 1 }], totalSeatCount: 1, revokedSeatQuantity: 0 },
    additionalTransactionReason: 'SEAT_ADDITION',
    ...buildTransactionPayload(),
    revocationDate: undefined,
  },
  renewal: {
    ...buildExample('JWSRenewalInfoDecodedPayload'),
    ...buildRenewalPayload(),
    gracePeriodExpiresDate: purchaseDate + 40 * dayMs,
  },
};

/** The fields that decide about the app, the environment, the product and the end of access. */
const decisive =
  /^(originalTransactionId|transactionId|bundleId|productId|environment|signedDate|purchaseDate|expiresDate|revocationDate)$/;
const unknownNumber = 99;

/** Without a warning: the adapter falls back on the signed evidence if it cannot use a response. */
const hasAccess = ({ observations, warning }: StoreValidation): boolean =>
  warning === undefined && observations.some(({ purchase }) => isActive(purchase, purchaseDate + dayMs));

const validate = async ({
  transaction,
  renewal,
}: Readonly<Record<keyof typeof payloads, object>>): Promise<boolean> => {
  return hasAccess(await validateSignedTransaction(createSubscriber(1, transaction, renewal), transaction));
};

describe('fields that Apple publishes', () => {
  it.each(Object.keys(payloads) as (keyof typeof payloads)[])(
    'give access while any other field of the %s is null, absent or unknown',
    async (name) => {
      const variants = listVariants(payloads[name]).filter(({ path }) => !decisive.test(path));
      expect(variants.length).toBeGreaterThan(100);
      for (const { path, change, object } of variants) {
        const result = await validate({ ...payloads, [name]: object as object }).catch((error: unknown) => error);
        expect({ path, change, result }).toEqual({ path, change, result: true });
      }
      for (const [field, value] of Object.entries(payloads[name]).filter(([path]) => !decisive.test(path))) {
        if (typeof value !== 'number') continue;
        const result = await validate({ ...payloads, [name]: { ...payloads[name], [field]: unknownNumber } });
        expect({ field, result }).toEqual({ field, result: true });
      }
    },
  );

  it('give access without the dates that a payload can lack', async () => {
    const transaction = { ...payloads.transaction, expiresDate: null, revocationDate: null };
    expect(await validate({ ...payloads, transaction })).toBe(true);
  });

  it.each([
    [
      'subscriptions',
      /^(environment|bundleId|data(\.0(\.lastTransactions(\.0(\.(status|signedTransactionInfo))?)?)?)?)$/,
    ],
    ['history', /^(environment|bundleId|signedTransactions(\.0)?)$/],
  ])('give access while any other field of the response is null, absent or unknown: %s', async (endpoint, needed) => {
    const payload = endpoint === 'history' ? buildOneTimePayload('Non-Consumable') : buildTransactionPayload();
    const customer = endpoint === 'history' ? { transactions: [payload] } : createSubscriber(1);
    const { fetch } = createAppStore({ Production: customer });
    const readWith = async (change: (body: object) => unknown): Promise<boolean> => {
      let changes = 0;
      const context = {
        fetch: async (...call: Parameters<typeof fetch>) => {
          const response = await fetch(...call);
          if (!call[0].includes(`/${endpoint}/`)) return response;
          changes++;
          return jsonResponse(200, change(JSON.parse(response.text)) as object);
        },
      };
      const validation = await validateSignedTransaction(customer, payload, { context });
      expect(changes).toBeGreaterThan(0);
      return hasAccess(validation);
    };
    let example: object = {};
    expect(await readWith((body) => (example = body))).toBe(true);
    // A text without a signature of Apple is not signed content.
    const variants = listVariants(example).filter(
      ({ path, change }) => !needed.test(path) && !(path.endsWith('Info') && change === 'unknown'),
    );
    expect(variants.length).toBeGreaterThan(4);
    for (const { path, change, object } of variants) {
      const result = await readWith(() => object).catch((error: unknown) => error);
      expect({ path, change, result }).toEqual({ path, change, result: true });
    }
  });
});
