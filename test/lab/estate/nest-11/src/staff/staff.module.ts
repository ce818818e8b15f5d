import { Module } from '@nestjs/common';
import { getRepositoryToken, TypeOrmModule } from '@nestjs/typeorm';
import { BearerAuthModule } from 'time-logs/auth';
import type { Repository } from 'typeorm';
import { StaffTokens } from './staff-tokens';
import { User } from './user.entity';

const users = TypeOrmModule.forFeature([User]);

@Module({
  imports: [
    users,
    BearerAuthModule.forRootAsync({
      imports: [users],
      inject: [getRepositoryToken(User)],
      useFactory: (all: Repository<User>) => ({ verifier: new StaffTokens(all), realm: 'our-app' }),
    }),
  ],
})
export class StaffModule {}
