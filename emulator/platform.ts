/** Tokens with which the control API names the emulated stores. */
export const platformTokens = {
  appStore: 'store_a',
  googlePlay: 'store_b',
  microsoftStore: 'store_c',
  stripe: 'processor_a',
  serviceStripe: 'service_processor_a',
  braintree: 'processor_b',
} as const;
