import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ServiceError } from '../../../../lib/shared/errors.ts';
import { parseXml } from '../../../../lib/stores/processor-b/parse-xml.ts';
import { processorB } from '../../../../lib/stores/processor-b/processor-b.ts';
import type { ValidationRequest } from '../../../../lib/stores/store.ts';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';

const settings = {
  merchantId: 'merchant',
  publicKey: 'public',
  privateKey: 'private',
  environment: 'sandbox',
  catalogue: { coin: { type: 'consumable', amount: '1.00', currency: 'USD' } },
};

const askingWith = (status: number, text: string): StoreContext => ({
  appName: 'app',
  settings,
  fetch: async () => ({ status, headers: new Headers(), text }),
  now: () => 0,
  runOnce: (_key, charge) => charge(),
  extraRoots: [],
});

const request = (transaction: ValidationRequest['transaction']): ValidationRequest => ({
  id: 'coin',
  type: 'consumable',
  transaction,
});
const outcome = async (given: ValidationRequest, context: StoreContext): Promise<unknown> =>
  await processorB.validate(given, context).catch((error: unknown) => error);

it('refuses any transaction that carries no nonce', async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (transaction) => {
      const { paymentMethodNonce: _nonce, ...without } = transaction;
      expect(await outcome(request(without), askingWith(500, ''))).toMatchObject({ code: 'InvalidPayload' });
    }),
  );
});

it('answers whatever the gateway says with an error of its own', async () => {
  const xml = fc.stringMatching(/^<[a-z]{1,9}( type="array")?>(<[a-z]{1,5}\/>|[a-z&;]{0,9}){0,4}<\/[a-z]{1,9}>$/);
  const status = fc.constantFrom(200, 201, 400, 404, 408, 422, 429, 500, 503);
  await fc.assert(
    fc.asyncProperty(status, fc.oneof(fc.string(), xml), async (code, text) => {
      expect(await outcome(request({ paymentMethodNonce: 'nonce' }), askingWith(code, text))).toBeInstanceOf(
        ServiceError,
      );
    }),
  );
});

it.each([
  [
    'typed members',
    '<a-b><c-d type="integer">7</c-d><e type="boolean">true</e><f nil="true"/></a-b>',
    { aB: { cD: 7, e: true, f: null } },
  ],
  [
    'lists',
    '<a><ids type="array"><item>1</item><item>2</item></ids><none type="array"/></a>',
    { a: { ids: ['1', '2'], none: [] } },
  ],
  ['entities', '<a>&lt;b&gt; &amp;amp; &#233;&#xe9;</a>', { a: '<b> &amp; éé' }],
  ['comments and declarations', '<?xml version="1.0"?><!-- <x> --><a>1</a>', { a: '1' }],
])('reads XML with %s', (_what, text, expected) => {
  expect(parseXml(text)).toEqual(expected);
});

it.each(['', 'text', '<a>', '</a>', '<a></b>', '<a/><b/>', '<a><', `${'<a>'.repeat(200)}`])('throws on %s', (text) => {
  expect(() => parseXml(text)).toThrow();
});
