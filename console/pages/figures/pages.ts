/** The pages of figures without heat maps in one file: they share most of their code. */
export { ConversionPage } from './conversion.tsx';
export { RevenuePage } from './revenue.tsx';
export { SubscriptionsPage } from './subscriptions.tsx';
