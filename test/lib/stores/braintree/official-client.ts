import braintree from 'braintree';

/** Members of the official client that its types omit. */
interface Untyped {
  readonly WebhookNotification: { readonly Kind: Readonly<Record<string, string>> };
}

/** All webhook kinds of the official client. */
export const officialKinds: readonly string[] = Object.values(
  (braintree as unknown as Untyped).WebhookNotification.Kind,
);

/** Creates a signed sample webhook with the official client. */
export async function createOfficialSample(
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
