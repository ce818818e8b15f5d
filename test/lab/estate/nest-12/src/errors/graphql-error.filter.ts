import { Catch, type ExceptionFilter } from '@nestjs/common';
import { GraphQLError } from 'graphql';
import { DomainError } from 'time-logs/errors';

/** The errors of time logs in the form of GraphQL, which gets what a filter returns. */
@Catch(DomainError)
export class GraphqlErrorFilter implements ExceptionFilter {
  catch({ code, message }: DomainError): GraphQLError {
    return new GraphQLError(message, { extensions: { code } });
  }
}
