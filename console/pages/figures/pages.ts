/** The pages of figures in one file: they share most of their code. */
export { ConversionPage } from './conversion.tsx';
export { LifetimeValuePage } from './lifetime-value.tsx';
export { RetentionPage } from './retention.tsx';
export { RevenuePage } from './revenue.tsx';
export { SubscriptionsPage } from './subscriptions.tsx';
