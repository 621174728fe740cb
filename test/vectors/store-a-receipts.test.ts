import { expect, it } from '@jest/globals';
import { findDerElement, parseDerElements } from '../../emulator/crypto/parse-der.ts';
import { storeA } from '../../lib/stores/store-a/store-a.ts';
import type { StoreContext } from '../../lib/stores/store-context.ts';
import { createContext } from '../../testing/fake-apple.ts';
import { describeWithVectors, readVector } from '../../testing/vectors.ts';

const receiptOf = (name: string): string => readVector('apple/receipts', name).toString('utf8').trim();

/** Apple cannot be reached, and no root is trusted but Apple's own. */
const withoutApple = (bundleId: string): StoreContext =>
  createContext({
    settings: { bundleId, sharedSecret: 'secret' },
    now: () => Date.parse('2026-11-21'),
    extraRoots: [],
  });

const validated = async (name: string, bundleId: string) =>
  await storeA.validate(
    { id: bundleId, type: 'application', transaction: { type: 'ios-store', appStoreReceipt: receiptOf(name) } },
    withoutApple(bundleId),
  );

interface Decoded {
  readonly type: number;
  readonly value: Buffer;
}

/** The attributes of a receipt by a reader of its own, which knows nothing of ours. */
const decoded = (set: Buffer): Decoded[] =>
  parseDerElements(findDerElement(set, [0]).content).map(({ content }) => {
    const [type, , value] = parseDerElements(content);
    return { type: Number(`0x${type?.content.toString('hex')}`), value: value?.content ?? Buffer.alloc(0) };
  });

const textOf = (attributes: readonly Decoded[], type: number): string => {
  const found = attributes.find((attribute) => attribute.type === type);
  return found ? findDerElement(found.value, [0]).content.toString('utf8') : '';
};

describeWithVectors('the real sandbox receipt', () => {
  const bundleId = 'dev.bonzer.weeka.app';

  it('is believed under the root of Apple while Apple cannot be reached, with a warning', async () => {
    const { warning, scope, id, appDownload } = await validated('receipt-sandbox-g5', bundleId);
    expect({ about: scope, id, appDownload }).toEqual({
      about: 'application',
      id: bundleId,
      appDownload: { currentVersion: '2', originalVersion: '1.0' },
    });
    expect(warning).toContain('Apple could not be reached');
  });

  it('holds exactly the purchases that an independent reader finds', async () => {
    const message = Buffer.from(receiptOf('receipt-sandbox-g5'), 'base64');
    const content = findDerElement(message, [0, 1, 0, 2, 1, 0]).content;
    const expected = decoded(content)
      .filter(({ type }) => type === 17)
      .map(({ value }) => decoded(value))
      .map((purchase) => ({
        transactionId: `store_a:${textOf(purchase, 1703)}`,
        purchaseId: `store_a:${textOf(purchase, 1705)}`,
        productId: `store_a:${textOf(purchase, 1702)}`,
        purchaseDate: Date.parse(textOf(purchase, 1704)),
        expirationDate: Date.parse(textOf(purchase, 1708)),
        sandbox: true,
      }));
    const { observations } = await validated('receipt-sandbox-g5', bundleId);
    const transactions = observations.flatMap((observation) => observation.transactions);
    expect(expected).toHaveLength(2);
    expect(transactions).toEqual(expected.map((transaction) => expect.objectContaining(transaction)));
    const [first, last] = expected;
    expect(observations).toMatchObject([{ purchase: { ...last, purchaseDate: first?.purchaseDate } }]);
  });

  it('is refused for another application, and when one of its bytes is changed', async () => {
    await expect(validated('receipt-sandbox-g5', 'com.example.app')).rejects.toMatchObject({ code: 'InvalidPayload' });
    const bytes = Buffer.from(receiptOf('receipt-sandbox-g5'), 'base64');
    bytes[300] = (bytes[300] ?? 0) ^ 1;
    const changed = { type: 'ios-store', appStoreReceipt: bytes.toString('base64') };
    await expect(
      storeA.validate({ id: bundleId, type: 'application', transaction: changed }, withoutApple(bundleId)),
    ).rejects.toMatchObject({ code: 'InvalidPayload' });
  });
});

describeWithVectors('the receipt that Xcode made', () => {
  it('is refused', async () => {
    await expect(validated('receipt-xcode', 'net.zachariadis.cyclemaps')).rejects.toMatchObject({
      code: 'InvalidPayload',
      message: expect.stringContaining("not Apple's"),
    });
  });
});
