/** Input that an action needs, by the member of its body. */
interface ActionInput {
  readonly member: 'productId' | 'applicationUsername';
  readonly label: string;
}

interface ActionDescription {
  readonly label: string;
  readonly input?: ActionInput;
  /** Offered without opening the other actions. */
  readonly isCommon?: true;
  /** Only for a purchase that is not a subscription. */
  readonly isOneTimeOnly?: true;
  /** Also for a purchase that is not a subscription. */
  readonly isForAll?: true;
}

/** Actions of the control API, in the order in which the page offers them. */
const descriptions: Readonly<Record<string, ActionDescription>> = {
  renew: { label: 'Renew', isCommon: true },
  'fail-payment': { label: 'Fail a payment', isCommon: true },
  recover: { label: 'Recover the payment', isCommon: true },
  cancel: { label: 'Cancel renewal', isCommon: true },
  uncancel: { label: 'Restore renewal', isCommon: true },
  pause: { label: 'Pause', isCommon: true },
  resume: { label: 'Resume', isCommon: true },
  refund: { label: 'Refund', isCommon: true, isForAll: true },
  pay: { label: 'Complete the payment', isForAll: true },
  abandon: { label: 'Abandon the payment', isForAll: true },
  expire: { label: 'Expire' },
  revoke: { label: 'Revoke', isForAll: true },
  consume: { label: 'Consume', isOneTimeOnly: true, isForAll: true },
  finish: { label: 'Finish the transaction', isOneTimeOnly: true, isForAll: true },
  'change-plan': { label: 'Change the plan', input: { member: 'productId', label: 'Product of the new plan' } },
  'raise-price': { label: 'Raise the price' },
  'accept-price': { label: 'Accept the price' },
  resubscribe: { label: 'Resubscribe' },
  extend: { label: 'Extend' },
  'redeem-offer': { label: 'Redeem an offer' },
  'pause-collection': { label: 'Pause the collection' },
  'resume-collection': { label: 'Resume the collection' },
  'request-refund': { label: 'Request a refund', isForAll: true },
  'decline-refund': { label: 'Decline the refund', isForAll: true },
  'reverse-refund': { label: 'Reverse the refund', isForAll: true },
  'extend-all': { label: 'Extend all subscriptions' },
  'rescind-consent': { label: 'Rescind the consent', isForAll: true },
  'external-purchase-token': { label: 'Remind of a token', isForAll: true },
  'update-metadata': { label: 'Update the metadata' },
  migrate: { label: 'Migrate to Advanced Commerce' },
  'change-price': { label: 'Change the price' },
  dispute: { label: 'Open a dispute', isForAll: true },
  'win-dispute': { label: 'Win the dispute', isForAll: true },
  share: {
    label: 'Share with a family member',
    input: { member: 'applicationUsername', label: 'User name of the family member' },
    isForAll: true,
  },
  delete: { label: 'Delete at the store' },
  'test-notification': { label: 'Send a test notification', isForAll: true },
};

export interface PurchaseAction extends ActionDescription {
  readonly name: string;
}

/** Lists the actions of a store that apply to the type of a purchase, common ones first. */
export function listActions(names: readonly string[], type: string): readonly PurchaseAction[] {
  const isSubscription = type === 'paid subscription';
  return [
    ...Object.keys(descriptions).filter((name) => names.includes(name)),
    ...names.filter((name) => !(name in descriptions)),
  ]
    .map((name) => ({ name, ...(descriptions[name] ?? { label: name.replaceAll('-', ' ') }) }))
    .filter(({ isOneTimeOnly, isForAll }) => (isSubscription ? !isOneTimeOnly : isForAll));
}
