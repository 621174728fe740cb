/**
 * Returns the reason of a webhook, or its type if it is about no change of a purchase. Events of earlier releases have
 * no type.
 */
export function describeReason({
  type,
  notification: { reason },
}: {
  readonly type?: string | undefined;
  readonly notification: { readonly reason: string };
}): string {
  if (reason !== 'OTHER' || type === undefined) return reason;
  return type === 'forward' ? 'Forward' : type;
}
