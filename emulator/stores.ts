import { appStore } from './app-store/app-store.ts';
import { braintree } from './braintree/braintree.ts';
import type { StoreDefinition } from './emulated-store.ts';
import { googlePlay } from './google-play/google-play.ts';
import { microsoftStore } from './microsoft-store/microsoft-store.ts';
import { serviceStripe, stripe } from './stripe/stripe.ts';

/** Registry of the emulated stores. */
export const storeDefinitions: readonly StoreDefinition[] = [
  appStore,
  googlePlay,
  microsoftStore,
  stripe,
  braintree,
  serviceStripe,
];
