/** What the control API answers to a purchase and to what is done with it. */
interface PurchaseResponse<Body> {
  readonly id: string;
  readonly validate: Body;
  /** When a subscription of store_b ends. */
  readonly expiryTime: string;
  /** When a subscription of store_a ends. */
  readonly expiresDate: string;
}

/** Sells and changes purchases in a running emulator. */
export function createEmulatorClient(emulatorUrl: string) {
  const call = async (path: string, body?: object): Promise<unknown> => {
    const method = body ? 'POST' : 'DELETE';
    const response = await fetch(`${emulatorUrl}/control${path}`, {
      method,
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
    /** Until `mend`, no call to the store is answered. */
    breakStore: async (platform: string) => await call('/faults', { platform, fault: 'down', times: 1000 }),
    mend: async () => await call('/faults'),
  };
}
