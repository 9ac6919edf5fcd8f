// SPDX-License-Identifier: GPL-2.0
/* Each rank of MPI sends a number to each rank, even to itself, and checks the received numbers. */
#include <mpi.h>

int main(int argc, char **argv)
{
	int rank, size, peer;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (peer = 0; peer < size; peer++) {
		int got = -1;
		MPI_Request request;

		MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, rank, MPI_COMM_WORLD, &request);
		MPI_Send(&rank, 1, MPI_INT, (rank + peer) % size, (rank + peer) % size,
			 MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		if (got < 0 || got >= size)
			MPI_Abort(MPI_COMM_WORLD, 1);
	}
	MPI_Finalize();
	return 0;
}
