import { describe, expect, it } from '@jest/globals';
import { qonversion } from '../../../cli/import/from/qonversion.ts';

const convert = (record: Readonly<Record<string, string>>) => qonversion.toPurchase(record)?.move;

describe('qonversion', () => {
  it('converts purchases of each store, with the customer of the app', () => {
    const apple = { store: 'AppStore', original_transaction_id: '1', custom_user_id: 'ann', environment: 'Sandbox' };
    expect(convert(apple)).toEqual({
      row: { platform: 'store_a', originalTransactionId: '1', sandbox: 'true', user: 'ann' },
    });
    const google = { store: 'PlayStore', transaction_id: 'GPA.1', product_id: 'gold:monthly', custom_user_id: 'bob' };
    expect(convert(google)).toEqual({ row: { platform: 'store_b', productId: 'gold', user: 'bob' }, orderId: 'GPA.1' });
    expect(convert({ platform: 'stripe', subscription_id: 'sub_1', user_id: 'cid' })).toEqual({
      row: { platform: 'processor_a', token: 'sub_1', user: 'cid' },
    });
  });

  it('leaves out the customer of an id of Qonversion, and names the reason against the move of a grant', () => {
    const record = { store: 'appstore', original_transaction_id: '1', user_id: `QON_${'0a'.repeat(16)}` };
    expect(convert(record)).toEqual({ row: { platform: 'store_a', originalTransactionId: '1', sandbox: 'false' } });
    expect(convert({ source: 'manual', transaction_id: '2' })).toEqual({
      id: '2',
      reason: expect.stringMatching(/grant/),
    });
  });
});
