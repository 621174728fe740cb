import { type ClaimcheckErrorCode, errorFixes } from './types.ts';

/** The error of all functions of this package. */
export class ClaimcheckError extends Error {
  override readonly name = 'ClaimcheckError';
  readonly code: ClaimcheckErrorCode;
  /** HTTP status, or undefined without a response. */
  readonly status: number | undefined;
  /** Units of the credit, if they do not suffice. */
  readonly balance: number | undefined;
  /** Whether a later attempt can succeed. Such an error says nothing about a purchase. */
  readonly isTemporary: boolean;
  /** What to do. */
  readonly fix: string;

  constructor(code: ClaimcheckErrorCode, message: string, status?: number, balance?: number) {
    super(message);
    this.code = code;
    this.status = status;
    this.balance = balance;
    this.isTemporary = status === undefined ? code === 'Unreachable' : status === 429 || status >= 500;
    this.fix = errorFixes[code] ?? errorFixes.Unknown;
  }
}
