import { expect, it } from '@jest/globals';
import { findDerElement, parseDerElements } from '../../emulator/crypto/parse-der.ts';
import { appStore } from '../../lib/stores/app-store/app-store.ts';
import type { StoreContext } from '../../lib/stores/store-context.ts';
import { createContext } from '../../testing/fake-apple.ts';
import { describeWithVectors, readVector } from '../../testing/vectors.ts';

const readReceipt = (name: string): string => readVector('apple/receipts', name).toString('utf8').trim();

/** Creates a context without network access that trusts Apple's roots only. */
const createOfflineContext = (bundleId: string): StoreContext =>
  createContext({
    settings: { bundleId, sharedSecret: 'secret' },
    now: () => Date.parse('2026-11-21'),
    extraRoots: [],
  });

const validate = async (name: string, bundleId: string) =>
  await appStore.validate(
    { id: bundleId, type: 'application', transaction: { type: 'ios-store', appStoreReceipt: readReceipt(name) } },
    createOfflineContext(bundleId),
  );

interface Attribute {
  readonly type: number;
  readonly value: Buffer;
}

/** Parses the attributes of a receipt independently of the adapter's parser. */
const parseAttributes = (set: Buffer): Attribute[] =>
  parseDerElements(findDerElement(set, [0]).content).map(({ content }) => {
    const [type, , value] = parseDerElements(content);
    return { type: Number(`0x${type?.content.toString('hex')}`), value: value?.content ?? Buffer.alloc(0) };
  });

const readText = (attributes: readonly Attribute[], type: number): string => {
  const attribute = attributes.find((candidate) => candidate.type === type);
  return attribute ? findDerElement(attribute.value, [0]).content.toString('utf8') : '';
};

describeWithVectors('validate (App Store) of a real sandbox receipt', () => {
  const bundleId = 'dev.bonzer.weeka.app';

  it('accepts the receipt with a warning if the App Store is unavailable', async () => {
    const { warning, scope, id, appDownload } = await validate('receipt-sandbox-g5', bundleId);
    expect({ scope, id, appDownload }).toEqual({
      scope: 'application',
      id: bundleId,
      appDownload: { currentVersion: '2', originalVersion: '1.0' },
    });
    expect(warning).toContain('The App Store is unavailable');
  });

  it('returns the purchases that an independent parser finds', async () => {
    const message = Buffer.from(readReceipt('receipt-sandbox-g5'), 'base64');
    const content = findDerElement(message, [0, 1, 0, 2, 1, 0]).content;
    const expected = parseAttributes(content)
      .filter(({ type }) => type === 17)
      .map(({ value }) => parseAttributes(value))
      .map((purchase) => ({
        transactionId: `store_a:${readText(purchase, 1703)}`,
        purchaseId: `store_a:${readText(purchase, 1705)}`,
        productId: `store_a:${readText(purchase, 1702)}`,
        purchaseDate: Date.parse(readText(purchase, 1704)),
        expirationDate: Date.parse(readText(purchase, 1708)),
        sandbox: true,
      }));
    const { observations } = await validate('receipt-sandbox-g5', bundleId);
    const transactions = observations.flatMap((observation) => observation.transactions);
    expect(expected).toHaveLength(2);
    expect(transactions).toEqual(expected.map((transaction) => expect.objectContaining(transaction)));
    const [first, last] = expected;
    expect(observations).toMatchObject([{ purchase: { ...last, purchaseDate: first?.purchaseDate } }]);
  });

  it('rejects the receipt for a different bundleId and after a changed byte', async () => {
    await expect(validate('receipt-sandbox-g5', 'com.example.app')).rejects.toMatchObject({ code: 'InvalidPayload' });
    const bytes = Buffer.from(readReceipt('receipt-sandbox-g5'), 'base64');
    bytes[300] = (bytes[300] ?? 0) ^ 1;
    const changed = { type: 'ios-store', appStoreReceipt: bytes.toString('base64') };
    await expect(
      appStore.validate({ id: bundleId, type: 'application', transaction: changed }, createOfflineContext(bundleId)),
    ).rejects.toMatchObject({ code: 'InvalidPayload' });
  });
});

describeWithVectors('validate (App Store) of an Xcode receipt', () => {
  it('throws InvalidPayload', async () => {
    await expect(validate('receipt-xcode', 'net.zachariadis.cyclemaps')).rejects.toMatchObject({
      code: 'InvalidPayload',
      message: expect.stringContaining('not from Apple'),
    });
  });
});
