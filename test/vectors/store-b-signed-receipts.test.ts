import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { storeB } from '../../lib/stores/store-b/store-b.ts';
import type { StoreContext } from '../../lib/stores/store-context.ts';
import { describeWithVectors, readVector } from '../../testing/vectors.ts';

const folder = ['google', 'real-signed-receipts'];

interface Sample {
  readonly data: { readonly packageName: string; readonly purchaseToken: string; readonly productId: string };
  readonly signature: string;
}

/** The text that was signed is the member `data` as it stands in the file. */
const sample = () => {
  const file = readVector(...folder, 'google.json').toString('utf8');
  const { data, signature } = JSON.parse(file) as Sample;
  return { data, signature, receipt: file.slice(file.indexOf('{"packageName"'), file.indexOf(',"signature"')) };
};

const licenceOf = (file: string) =>
  readVector(...folder, file)
    .toString('utf8')
    .trim();

const validate = async (changes: object, licenseKey: string) => {
  const { data, receipt, signature } = sample();
  const transaction = { type: 'android-store', purchaseToken: data.purchaseToken, receipt, signature, ...changes };
  const settings = {
    packageName: data.packageName,
    licenseKey,
  };
  const context = { settings, now: () => Date.parse('2016-02-23') } as Partial<StoreContext> as StoreContext;
  return await storeB.validate({ id: data.productId, type: 'paid subscription', transaction }, context);
};

describeWithVectors('a really signed receipt of store_b', () => {
  it('is believed, with a warning, under the key of its application', async () => {
    expect(await validate({}, licenceOf('iap-live.pubkey.b64'))).toMatchObject({
      warning: expect.any(String),
      observations: [{ purchase: { platform: 'store_b', renewalIntent: 'Renew' } }],
    });
  });

  it('is refused under the key of another application', async () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const licence = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
    await expect(validate({}, licence)).rejects.toMatchObject({ code: 'InvalidPayload' });
  });

  it('is refused when one character of it changed', async () => {
    const { receipt } = sample();
    const changed = { receipt: receipt.replace('"purchaseState":0', '"purchaseState":1') };
    await expect(validate(changed, licenceOf('iap-live.pubkey.b64'))).rejects.toMatchObject({ code: 'InvalidPayload' });
  });
});
