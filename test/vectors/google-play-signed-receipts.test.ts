import { expect, it } from '@jest/globals';
import { googlePlay } from '../../lib/stores/google-play/google-play.ts';
import type { StoreContext } from '../../lib/stores/store-context.ts';
import { createRsaKeyPair } from '../../testing/run-keys.ts';
import { stoppedStopwatch } from '../../testing/stopwatch.ts';
import { describeWithVectors, readVector } from '../../testing/vectors.ts';

const folder = ['google', 'real-signed-receipts'];

interface Sample {
  readonly data: { readonly packageName: string; readonly purchaseToken: string; readonly productId: string };
  readonly signature: string;
}

/** Reads the sample. The signature covers the text of the member `data` exactly as it is in the file. */
const readSample = () => {
  const file = readVector(...folder, 'google.json').toString('utf8');
  const { data, signature } = JSON.parse(file) as Sample;
  return { data, signature, receipt: file.slice(file.indexOf('{"packageName"'), file.indexOf(',"signature"')) };
};

const readLicenseKey = (file: string) =>
  readVector(...folder, file)
    .toString('utf8')
    .trim();

const validate = async (changes: object, licenseKey: string) => {
  const { data, receipt, signature } = readSample();
  const transaction = { type: 'android-store', purchaseToken: data.purchaseToken, receipt, signature, ...changes };
  const settings = {
    packageName: data.packageName,
    licenseKey,
  };
  const context = {
    settings,
    now: () => Date.parse('2016-02-23'),
    stopwatch: stoppedStopwatch,
  } as Partial<StoreContext> as StoreContext;
  return await googlePlay.validate({ id: data.productId, type: 'paid subscription', transaction }, context);
};

describeWithVectors('validate (Google Play) of a receipt signed by Google Play', () => {
  it('accepts the receipt with a warning if the license key of its app is set', async () => {
    expect(await validate({}, readLicenseKey('iap-live.pubkey.b64'))).toMatchObject({
      warning: expect.any(String),
      observations: [{ purchase: { platform: 'store_b', renewalIntent: 'Renew' } }],
    });
  });

  it('rejects the receipt if the license key of a different app is set', async () => {
    const { publicKey } = createRsaKeyPair();
    const licenseKey = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
    await expect(validate({}, licenseKey)).rejects.toMatchObject({ code: 'InvalidPayload' });
  });

  it('rejects the receipt after one character was changed', async () => {
    const { receipt } = readSample();
    const changed = { receipt: receipt.replace('"purchaseState":0', '"purchaseState":1') };
    await expect(validate(changed, readLicenseKey('iap-live.pubkey.b64'))).rejects.toMatchObject({
      code: 'InvalidPayload',
    });
  });
});
