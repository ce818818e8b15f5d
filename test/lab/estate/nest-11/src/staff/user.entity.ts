import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Somebody of our staff. A real app keeps no token, but asks its identity provider. */
@Entity('users')
export class User {
  @PrimaryColumn('text')
  name!: string;

  @Column('text')
  token!: string;

  @Column('text')
  role!: 'member' | 'manager';
}
