import braintree from 'braintree';

/** What the official client has and its types leave out. */
interface Untyped {
  readonly WebhookNotification: { readonly Kind: Readonly<Record<string, string>> };
}

/** Every kind of webhook that the official client knows. */
export const officialKinds: readonly string[] = Object.values(
  (braintree as unknown as Untyped).WebhookNotification.Kind,
);

/** The official client's sample of a webhook, signed for a merchant. */
export async function officialSample(
  keys: { readonly merchantId: string; readonly publicKey: string; readonly privateKey: string },
  { kind, id }: { readonly kind: string; readonly id: string },
): Promise<{ readonly bt_signature: string; readonly bt_payload: string }> {
  const gateway = new braintree.BraintreeGateway({ ...keys, environment: braintree.Environment.Sandbox });
  const { webhookTesting } = gateway as unknown as {
    readonly webhookTesting: {
      sampleNotification(kind: string, id: string): Promise<{ bt_signature: string; bt_payload: string }>;
    };
  };
  return await webhookTesting.sampleNotification(kind, id);
}
