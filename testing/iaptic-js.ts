/**
 * Source of a module with the interface of iaptic-js, which no registry has: the same options, requests, stored token
 * and products as version 1.0.4. It needs `fetch` and `localStorage` of a browser page, and calls `navigate` instead of
 * changing the location.
 * @see https://github.com/iaptic/iaptic-js/blob/main/api.md
 * @see https://github.com/iaptic/iaptic-js/blob/main/src/iaptic-stripe.ts
 */
export const iapticJsSource = `
const createAdapter = ({ appName, apiKey, customIapticUrl }) => {
  const tokenName = 'iaptic_access_token';
  const headers = { Authorization: 'Basic ' + btoa(appName + ':' + apiKey) };
  const call = async (path, body) => {
    const init = body ? { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(body) } : { headers };
    const response = await fetch(customIapticUrl + '/v3/stripe/' + path, init);
    const result = await response.json();
    if (!response.ok || !result.ok) throw new Error(result.message);
    const accessToken = result.newAccessToken ?? result.accessToken;
    if (accessToken) localStorage.setItem(tokenName, accessToken);
    return result;
  };
  const getToken = () => localStorage.getItem(tokenName) ?? undefined;
  const getStored = () => JSON.parse(localStorage.getItem('iaptic_products'));
  const refreshProducts = async () => {
    const stored = getStored();
    if (stored && stored.fetchedAt > Date.now() - 60_000) return stored.products;
    const { products } = await call('prices');
    localStorage.setItem('iaptic_products', JSON.stringify({ products, fetchedAt: Date.now() }));
    return products;
  };
  const getProducts = async () => getStored()?.products ?? (await refreshProducts());
  return {
    getProducts,
    refreshProducts,
    order: async (order) => void globalThis.navigate((await call('checkout', { ...order, accessToken: getToken() })).url),
    getPurchases: async () =>
      getToken() ? (await call('purchases?accessToken=' + encodeURIComponent(getToken()))).purchases : [],
    redirectToCustomerPortal: async ({ returnUrl }) =>
      void globalThis.navigate((await call('portal', { returnUrl, accessToken: getToken() })).url),
    changePlan: async (change) => (await call('change-plan', { ...change, accessToken: getToken() })).purchase,
  };
};
export const IapticJS = { createAdapter };
`;
