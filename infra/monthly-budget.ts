import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import { Construct } from 'constructs';

interface MonthlyBudgetProps {
  readonly limitUsd: number;
  readonly email: string;
}

/** A budget for the whole account, with an email at 80 and 100 percent of the limit. */
export class MonthlyBudget extends Construct {
  constructor(scope: Construct, id: string, { limitUsd, email }: MonthlyBudgetProps) {
    super(scope, id);
    new CfnBudget(this, 'Budget', {
      budget: {
        budgetType: 'COST',
        timeUnit: 'MONTHLY',
        budgetLimit: { amount: limitUsd, unit: 'USD' },
      },
      notificationsWithSubscribers: [80, 100].map((threshold) => ({
        notification: { notificationType: 'ACTUAL', comparisonOperator: 'GREATER_THAN', threshold },
        subscribers: [{ subscriptionType: 'EMAIL', address: email }],
      })),
    });
  }
}
