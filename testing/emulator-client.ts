/** Response of the control API to a purchase and to an action on it. */
interface PurchaseResponse<Body> {
  readonly id: string;
  /** Body for `POST /v1/validate`. */
  readonly validate: Body;
  /** End of a subscription of Google Play, ISO 8601. */
  readonly expiryTime: string;
  /** End of a subscription of the App Store, ISO 8601. */
  readonly expiresDate: string;
}

/** Client of the control API of a running emulator. */
export interface EmulatorClient {
  /** Buys a subscription named `premium` unless `order` says otherwise. */
  buy<Body>(order: object): Promise<PurchaseResponse<Body>>;
  /** Performs an action of the store on a purchase, for example `expire`. */
  act<Body>(id: string, action: string, details?: object): Promise<PurchaseResponse<Body>>;
  /** Makes a store unavailable until `clearFaults`. */
  breakStore(platform: string): Promise<void>;
  clearFaults(): Promise<void>;
}

export function createEmulatorClient(emulatorUrl: string): EmulatorClient {
  const call = async (path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${emulatorUrl}/control${path}`, {
      method: body ? 'POST' : 'DELETE',
      ...(body && { body: JSON.stringify(body) }),
    });
    if (response.status >= 300) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return await response.json();
  };
  return {
    buy: async <Body>(order: object) =>
      (await call('/purchases', {
        productId: 'premium',
        type: 'paid subscription',
        ...order,
      })) as PurchaseResponse<Body>,
    act: async <Body>(id: string, action: string, details: object = {}) =>
      (await call(`/purchases/${encodeURIComponent(id)}/${action}`, details)) as PurchaseResponse<Body>,
    breakStore: async (platform) => void (await call('/faults', { platform, fault: 'down', times: 1000 })),
    clearFaults: async () => void (await call('/faults')),
  };
}
