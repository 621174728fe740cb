/** The pages of cohorts with heat maps in one file: they share most of their code. */
export { LifetimeValuePage } from './lifetime-value.tsx';
export { RetentionPage } from './retention.tsx';
