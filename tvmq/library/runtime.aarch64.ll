; 41bb0a5cd8d61b06fe82197a21d38af4d9eede57adfac21ef4d5cb4935c23eb3 is the sha256 of the sources; tools/library_runtime.py writes this file
; ModuleID = 'runtime.c'
source_filename = "runtime.c"
target datalayout = "e-m:e-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128"
target triple = "aarch64-unknown-linux-gnu"

%struct.plan = type { i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32 }
%struct.plan_code = type { i32, i32, i32, i32, i32, i32, i32, i32, i64, i64, i64, i32, i32, i32, i32 }
%struct.pool = type { i64, i32, i32, i32, i32, i32, i32, ptr, ptr, [0 x i64] }
%struct.model_threads = type { i32, ptr, ptr }
%struct.context = type { ptr, ptr, ptr, ptr, i64, ptr }
%struct.block = type { ptr, ptr }
%struct.loop = type { ptr, ptr, ptr, %struct.group, i32 }
%struct.group = type { ptr, i32 }
%struct.model_description = type { ptr, ptr, ptr, ptr, ptr, i32, i32, i32, i32 }
%struct.plan_dimension = type { i32, i32, i64, i64 }
%struct.plan_tensor = type { i32, i32, i32, i32, i32, i32, double, i64, [8 x i64], i64 }
%struct.model_tensor = type { ptr, ptr, i32, i32, [8 x i64], i64, double, i64 }
%struct.plan_operation = type { i32, i32, i64, i64, i64 }
%struct.run = type { ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr }
%struct.model_buffer = type { ptr, i64 }
%struct.plan_indices = type { i32, i32, i32, i32 }
%struct.tensor = type { ptr, i32, i32, i32, i8, i8, i16, ptr, ptr, i64 }
%struct.plan_golden = type { i32, i32, i32, i32, [2 x i64] }
%struct.argument = type { i32, i32, %union.anon }
%union.anon = type { ptr }
%struct.plan_place = type { i32, i16, i16, i8, i8, i16, i32, i64, i64 }

@__TVMBackendAllocWorkspace = hidden local_unnamed_addr constant ptr @allocate, align 8
@__TVMBackendFreeWorkspace = hidden local_unnamed_addr constant ptr @release, align 8
@__TVMBackendParallelLaunch = hidden local_unnamed_addr constant ptr @launch, align 8
@__TVMFFIErrorSetRaisedFromCStr = hidden local_unnamed_addr constant ptr @set_error, align 8
@__TVMFFIErrorSetRaisedFromCStrParts = hidden local_unnamed_addr constant ptr @set_error_parts, align 8
@model_plan = external hidden constant %struct.plan, align 4
@.str = private unnamed_addr constant [9 x i8] c"no error\00", align 1
@.str.1 = private unnamed_addr constant [61 x i8] c"an argument, or the data of a tensor that has bytes, is null\00", align 1
@.str.2 = private unnamed_addr constant [61 x i8] c"an input or output has fewer bytes than its description says\00", align 1
@.str.3 = private unnamed_addr constant [78 x i8] c"data does not begin at a multiple of the alignment that its description names\00", align 1
@.str.4 = private unnamed_addr constant [87 x i8] c"a workspace or the memory of a pool is smaller than workspace_bytes or pool_bytes says\00", align 1
@.str.5 = private unnamed_addr constant [82 x i8] c"a dynamic dimension has a size that the model does not take, or sizes are missing\00", align 1
@.str.6 = private unnamed_addr constant [54 x i8] c"there is no input, output or dimension of this number\00", align 1
@.str.7 = private unnamed_addr constant [82 x i8] c"this processor lacks instructions that the code needs; export it for an older one\00", align 1
@.str.8 = private unnamed_addr constant [44 x i8] c"the function init was not called, or failed\00", align 1
@.str.9 = private unnamed_addr constant [86 x i8] c"the number of threads is 0, above 1 without a launch function, or above 256 of a pool\00", align 1
@.str.10 = private unnamed_addr constant [31 x i8] c"a computation refused its data\00", align 1
@.str.11 = private unnamed_addr constant [70 x i8] c"the library has no code of this name; its description lists the names\00", align 1
@.str.12 = private unnamed_addr constant [81 x i8] c"the program has no function pthread_create, or the system starts no more threads\00", align 1
@.str.13 = private unnamed_addr constant [85 x i8] c"a layer gives another result than the definition: report the processor and the layer\00", align 1
@.str.14 = private unnamed_addr constant [50 x i8] c"an input holds an index outside of what it counts\00", align 1
@.str.15 = private unnamed_addr constant [90 x i8] c"a dynamic dimension is no multiple of the number that its description says: pad or resize\00", align 1
@.str.16 = private unnamed_addr constant [73 x i8] c"the library was made without values for a self-test; export it with them\00", align 1
@.str.17 = private unnamed_addr constant [41 x i8] c"a status that this library does not give\00", align 1
@chosen = internal unnamed_addr global i32 0, align 4
@current = internal thread_local global ptr null, align 8
@.str.18 = private unnamed_addr constant [8 x i8] c"float32\00", align 1
@.str.19 = private unnamed_addr constant [5 x i8] c"bool\00", align 1
@reltable.model_status_text = private unnamed_addr constant [17 x i32] [i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.15 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.14 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.16 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.13 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.12 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.11 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.10 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.9 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.8 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.7 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.6 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.5 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.4 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.3 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.2 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.1 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32)], align 4

; Function Attrs: nounwind
define i32 @model_init() local_unnamed_addr #0 {
  %1 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %2 = zext i32 %1 to i64
  %3 = getelementptr inbounds i8, ptr @model_plan, i64 %2
  %4 = load i32, ptr @model_plan, align 4
  %5 = icmp eq i32 %4, 3
  br i1 %5, label %6, label %52

6:                                                ; preds = %0
  %7 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 2), align 4
  %8 = icmp eq i32 %7, 0
  br i1 %8, label %52, label %9

9:                                                ; preds = %6
  %10 = zext i32 %7 to i64
  br label %11

11:                                               ; preds = %49, %9
  %12 = phi i64 [ 0, %9 ], [ %50, %49 ]
  %13 = getelementptr inbounds %struct.plan_code, ptr %3, i64 %12, i32 1
  %14 = load i32, ptr %13, align 4
  %15 = zext i32 %14 to i64
  %16 = getelementptr inbounds i8, ptr @model_plan, i64 %15
  %17 = load i32, ptr %16, align 4
  %18 = zext i32 %17 to i64
  %19 = getelementptr inbounds i32, ptr %16, i64 %18
  %20 = getelementptr inbounds i32, ptr %16, i64 1
  %21 = load i32, ptr %20, align 4
  %22 = icmp eq i32 %21, 0
  br i1 %22, label %23, label %49

23:                                               ; preds = %11
  %24 = icmp ult i32 %17, 3
  br i1 %24, label %46, label %25

25:                                               ; preds = %23
  %26 = getelementptr inbounds i32, ptr %16, i64 2
  br label %27

27:                                               ; preds = %27, %25
  %28 = phi ptr [ %26, %25 ], [ %42, %27 ]
  %29 = load i32, ptr %28, align 4
  %30 = zext i32 %29 to i64
  %31 = tail call i64 @getauxval(i64 noundef %30) #17
  %32 = getelementptr inbounds i32, ptr %28, i64 2
  %33 = load i32, ptr %32, align 4
  %34 = shl i32 %33, 5
  %35 = zext i32 %34 to i64
  %36 = lshr i64 %31, %35
  %37 = trunc i64 %36 to i32
  %38 = getelementptr inbounds i32, ptr %28, i64 3
  %39 = load i32, ptr %38, align 4
  %40 = and i32 %39, %37
  %41 = icmp eq i32 %40, %39
  %42 = getelementptr inbounds i32, ptr %28, i64 4
  %43 = icmp ult ptr %42, %19
  %44 = select i1 %41, i1 %43, i1 false
  br i1 %44, label %27, label %45, !llvm.loop !3

45:                                               ; preds = %27
  br i1 %41, label %46, label %49

46:                                               ; preds = %45, %23
  %47 = trunc i64 %12 to i32
  %48 = add i32 %47, 1
  store atomic i32 %48, ptr @chosen release, align 4
  br label %52

49:                                               ; preds = %45, %11
  %50 = add nuw nsw i64 %12, 1
  %51 = icmp eq i64 %50, %10
  br i1 %51, label %52, label %11, !llvm.loop !5

52:                                               ; preds = %49, %0, %6, %46
  %53 = phi i32 [ -7, %0 ], [ 0, %46 ], [ -7, %6 ], [ -7, %49 ]
  ret i32 %53
}

; Function Attrs: nounwind
define i32 @model_select_code(ptr noundef readonly %0) local_unnamed_addr #0 {
  %2 = icmp eq ptr %0, null
  br i1 %2, label %80, label %3

3:                                                ; preds = %1
  %4 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %5 = zext i32 %4 to i64
  %6 = getelementptr inbounds i8, ptr @model_plan, i64 %5
  %7 = load i32, ptr @model_plan, align 4
  %8 = icmp eq i32 %7, 3
  br i1 %8, label %9, label %80

9:                                                ; preds = %3
  %10 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 2), align 4
  %11 = icmp eq i32 %10, 0
  br i1 %11, label %80, label %12

12:                                               ; preds = %9
  %13 = zext i32 %10 to i64
  br label %14

14:                                               ; preds = %12, %76
  %15 = phi i64 [ 0, %12 ], [ %78, %76 ]
  %16 = phi i32 [ -11, %12 ], [ %77, %76 ]
  %17 = getelementptr inbounds %struct.plan_code, ptr %6, i64 %15
  %18 = load i32, ptr %17, align 8
  %19 = zext i32 %18 to i64
  %20 = getelementptr inbounds i8, ptr @model_plan, i64 %19
  %21 = load i8, ptr %0, align 1
  %22 = icmp eq i8 %21, 0
  br i1 %22, label %34, label %23

23:                                               ; preds = %14, %29
  %24 = phi i8 [ %32, %29 ], [ %21, %14 ]
  %25 = phi ptr [ %31, %29 ], [ %20, %14 ]
  %26 = phi ptr [ %30, %29 ], [ %0, %14 ]
  %27 = load i8, ptr %25, align 1
  %28 = icmp eq i8 %24, %27
  br i1 %28, label %29, label %34

29:                                               ; preds = %23
  %30 = getelementptr inbounds i8, ptr %26, i64 1
  %31 = getelementptr inbounds i8, ptr %25, i64 1
  %32 = load i8, ptr %30, align 1
  %33 = icmp eq i8 %32, 0
  br i1 %33, label %34, label %23, !llvm.loop !6

34:                                               ; preds = %29, %23, %14
  %35 = phi ptr [ %20, %14 ], [ %31, %29 ], [ %25, %23 ]
  %36 = phi i8 [ 0, %14 ], [ 0, %29 ], [ %24, %23 ]
  %37 = load i8, ptr %35, align 1
  %38 = icmp eq i8 %36, %37
  br i1 %38, label %39, label %76

39:                                               ; preds = %34
  %40 = getelementptr inbounds %struct.plan_code, ptr %6, i64 %15, i32 1
  %41 = load i32, ptr %40, align 4
  %42 = zext i32 %41 to i64
  %43 = getelementptr inbounds i8, ptr @model_plan, i64 %42
  %44 = load i32, ptr %43, align 4
  %45 = zext i32 %44 to i64
  %46 = getelementptr inbounds i32, ptr %43, i64 %45
  %47 = getelementptr inbounds i32, ptr %43, i64 1
  %48 = load i32, ptr %47, align 4
  %49 = icmp eq i32 %48, 0
  br i1 %49, label %50, label %76

50:                                               ; preds = %39
  %51 = icmp ult i32 %44, 3
  br i1 %51, label %73, label %52

52:                                               ; preds = %50
  %53 = getelementptr inbounds i32, ptr %43, i64 2
  br label %54

54:                                               ; preds = %54, %52
  %55 = phi ptr [ %53, %52 ], [ %69, %54 ]
  %56 = load i32, ptr %55, align 4
  %57 = zext i32 %56 to i64
  %58 = tail call i64 @getauxval(i64 noundef %57) #17
  %59 = getelementptr inbounds i32, ptr %55, i64 2
  %60 = load i32, ptr %59, align 4
  %61 = shl i32 %60, 5
  %62 = zext i32 %61 to i64
  %63 = lshr i64 %58, %62
  %64 = trunc i64 %63 to i32
  %65 = getelementptr inbounds i32, ptr %55, i64 3
  %66 = load i32, ptr %65, align 4
  %67 = and i32 %66, %64
  %68 = icmp eq i32 %67, %66
  %69 = getelementptr inbounds i32, ptr %55, i64 4
  %70 = icmp ult ptr %69, %46
  %71 = select i1 %68, i1 %70, i1 false
  br i1 %71, label %54, label %72, !llvm.loop !3

72:                                               ; preds = %54
  br i1 %68, label %73, label %76

73:                                               ; preds = %72, %50
  %74 = trunc i64 %15 to i32
  %75 = add i32 %74, 1
  store atomic i32 %75, ptr @chosen release, align 4
  br label %80

76:                                               ; preds = %72, %39, %34
  %77 = phi i32 [ %16, %34 ], [ -7, %72 ], [ -7, %39 ]
  %78 = add nuw nsw i64 %15, 1
  %79 = icmp eq i64 %78, %13
  br i1 %79, label %80, label %14, !llvm.loop !5

80:                                               ; preds = %76, %73, %9, %3, %1
  %81 = phi i32 [ -1, %1 ], [ -7, %3 ], [ 0, %73 ], [ -11, %9 ], [ %77, %76 ]
  ret i32 %81
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i64 @model_pool_bytes(i32 noundef %0) local_unnamed_addr #1 {
  %2 = add i32 %0, -257
  %3 = icmp ult i32 %2, -256
  %4 = zext i32 %0 to i64
  %5 = shl nuw nsw i64 %4, 3
  %6 = add nuw nsw i64 %5, 103
  %7 = and i64 %6, 65472
  %8 = select i1 %3, i64 -9, i64 %7
  ret i64 %8
}

; Function Attrs: nounwind
define i32 @model_pool_start([2 x i64] %0, i32 noundef %1, ptr noundef writeonly %2) local_unnamed_addr #0 {
  %4 = alloca i64, align 8
  %5 = alloca i64, align 8
  %6 = extractvalue [2 x i64] %0, 0
  %7 = inttoptr i64 %6 to ptr
  %8 = extractvalue [2 x i64] %0, 1
  %9 = add i32 %1, -257
  %10 = icmp ult i32 %9, -256
  %11 = zext i32 %1 to i64
  %12 = shl nuw nsw i64 %11, 3
  %13 = add nuw nsw i64 %12, 103
  %14 = and i64 %13, 65472
  %15 = select i1 %10, i64 -9, i64 %14
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %4) #18
  store i64 -15032385537, ptr %4, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %5) #18
  %16 = icmp ne i64 %6, 0
  %17 = icmp ne ptr %2, null
  %18 = and i1 %16, %17
  br i1 %18, label %19, label %86

19:                                               ; preds = %3
  br i1 %10, label %20, label %22

20:                                               ; preds = %19
  %21 = trunc i64 %15 to i32
  br label %86

22:                                               ; preds = %19
  %23 = and i64 %6, 63
  %24 = icmp eq i64 %23, 0
  br i1 %24, label %25, label %86

25:                                               ; preds = %22
  %26 = icmp ult i64 %8, %15
  br i1 %26, label %86, label %27

27:                                               ; preds = %25
  %28 = icmp ugt i32 %1, 1
  br i1 %28, label %29, label %36

29:                                               ; preds = %27
  %30 = tail call { ptr, ptr } asm "", "=r,=r,0,1"(ptr @pthread_create, ptr @pthread_join) #19, !srcloc !7
  %31 = extractvalue { ptr, ptr } %30, 0
  %32 = extractvalue { ptr, ptr } %30, 1
  %33 = icmp eq ptr %31, null
  %34 = icmp eq ptr %32, null
  %35 = select i1 %33, i1 true, i1 %34
  br i1 %35, label %86, label %36

36:                                               ; preds = %29, %27
  %37 = tail call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 172, i64 0, i64 0, i64 0, i64 0) #18, !srcloc !8
  %38 = trunc i64 %37 to i32
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(28) %7, i8 0, i64 28, i1 false)
  %39 = getelementptr inbounds i8, ptr %7, i64 28
  store i32 %38, ptr %39, align 4
  %40 = getelementptr inbounds i8, ptr %7, i64 32
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %40, i8 0, i64 16, i1 false)
  %41 = ptrtoint ptr %4 to i64
  %42 = ptrtoint ptr %5 to i64
  %43 = call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 135, i64 %41, i64 %42, i64 8, i64 2) #18, !srcloc !8
  %44 = getelementptr inbounds %struct.pool, ptr %7, i64 0, i32 5
  %45 = add nsw i32 %1, -1
  %46 = getelementptr inbounds %struct.pool, ptr %7, i64 0, i32 9
  %47 = load i32, ptr %44, align 8
  %48 = icmp ult i32 %47, %45
  br i1 %48, label %49, label %82

49:                                               ; preds = %36, %55
  %50 = phi i32 [ %57, %55 ], [ %47, %36 ]
  %51 = zext i32 %50 to i64
  %52 = getelementptr inbounds i64, ptr %46, i64 %51
  %53 = call i32 @pthread_create(ptr noundef nonnull %52, ptr noundef null, ptr noundef nonnull @serve, ptr noundef nonnull %7) #17
  %54 = icmp eq i32 %53, 0
  br i1 %54, label %55, label %59

55:                                               ; preds = %49
  %56 = load i32, ptr %44, align 8
  %57 = add i32 %56, 1
  store i32 %57, ptr %44, align 8
  %58 = icmp ult i32 %57, %45
  br i1 %58, label %49, label %82

59:                                               ; preds = %49
  %60 = call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 135, i64 %42, i64 0, i64 8, i64 2) #18, !srcloc !8
  %61 = getelementptr inbounds %struct.pool, ptr %7, i64 0, i32 4
  store atomic i32 1, ptr %61 release, align 4
  %62 = getelementptr inbounds %struct.pool, ptr %7, i64 0, i32 1
  %63 = atomicrmw add ptr %62, i32 1 release, align 4
  %64 = ptrtoint ptr %62 to i64
  %65 = call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 98, i64 129, i64 256, i64 0, i64 %64) #18, !srcloc !8
  %66 = load i32, ptr %39, align 4
  %67 = call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 172, i64 0, i64 0, i64 0, i64 0) #18, !srcloc !8
  %68 = trunc i64 %67 to i32
  %69 = icmp eq i32 %66, %68
  br i1 %69, label %70, label %86

70:                                               ; preds = %59
  %71 = load i32, ptr %44, align 8
  %72 = icmp eq i32 %71, 0
  br i1 %72, label %86, label %73

73:                                               ; preds = %70, %73
  %74 = phi i64 [ %78, %73 ], [ 0, %70 ]
  %75 = getelementptr inbounds %struct.pool, ptr %7, i64 0, i32 9, i64 %74
  %76 = load i64, ptr %75, align 8
  %77 = call i32 @pthread_join(i64 noundef %76, ptr noundef null) #17
  %78 = add nuw nsw i64 %74, 1
  %79 = load i32, ptr %44, align 8
  %80 = zext i32 %79 to i64
  %81 = icmp ult i64 %78, %80
  br i1 %81, label %73, label %86, !llvm.loop !9

82:                                               ; preds = %55, %36
  %83 = call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 135, i64 %42, i64 0, i64 8, i64 2) #18, !srcloc !8
  store i32 %1, ptr %2, align 8
  %84 = getelementptr inbounds i8, ptr %2, i64 8
  store ptr @launch_in_pool, ptr %84, align 8
  %85 = getelementptr inbounds i8, ptr %2, i64 16
  store ptr %7, ptr %85, align 8
  br label %86

86:                                               ; preds = %73, %70, %59, %29, %25, %22, %3, %82, %20
  %87 = phi i32 [ %21, %20 ], [ 0, %82 ], [ -1, %3 ], [ -3, %22 ], [ -4, %25 ], [ -12, %29 ], [ -12, %59 ], [ -12, %70 ], [ -12, %73 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %5) #18
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %4) #18
  ret i32 %87
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #2

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr nocapture writeonly, i8, i64, i1 immarg) #3

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr noalias nocapture readonly, i64, i1 immarg) #4

declare extern_weak i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef) #5

; Function Attrs: nounwind
define internal ptr @serve(ptr noundef %0) #0 {
  %2 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 4
  %3 = load atomic i32, ptr %2 acquire, align 4
  %4 = icmp eq i32 %3, 0
  br i1 %4, label %5, label %63

5:                                                ; preds = %1
  %6 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 1
  %7 = ptrtoint ptr %6 to i64
  %8 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 7
  %9 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 8
  %10 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 2
  %11 = ptrtoint ptr %10 to i64
  br label %12

12:                                               ; preds = %5, %60
  %13 = phi i32 [ 0, %5 ], [ %31, %60 ]
  br label %19

14:                                               ; preds = %23
  %15 = load atomic i32, ptr %6 acquire, align 4
  %16 = icmp eq i32 %15, %13
  br i1 %16, label %17, label %30

17:                                               ; preds = %14
  %18 = zext i32 %13 to i64
  br label %26

19:                                               ; preds = %23, %12
  %20 = phi i32 [ 0, %12 ], [ %24, %23 ]
  %21 = load atomic i32, ptr %6 acquire, align 4
  %22 = icmp eq i32 %21, %13
  br i1 %22, label %23, label %30

23:                                               ; preds = %19
  tail call void asm sideeffect "yield", ""() #18, !srcloc !10
  %24 = add nuw nsw i32 %20, 1
  %25 = icmp eq i32 %24, 1000
  br i1 %25, label %14, label %19, !llvm.loop !11

26:                                               ; preds = %26, %17
  %27 = tail call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 98, i64 128, i64 %18, i64 0, i64 %7) #18, !srcloc !8
  %28 = load atomic i32, ptr %6 acquire, align 4
  %29 = icmp eq i32 %28, %13
  br i1 %29, label %26, label %30, !llvm.loop !12

30:                                               ; preds = %19, %26, %14
  %31 = phi i32 [ %15, %14 ], [ %28, %26 ], [ %21, %19 ]
  %32 = load atomic i64, ptr %0 acquire, align 8
  %33 = and i64 %32, 65535
  %34 = lshr i64 %32, 16
  %35 = and i64 %34, 65535
  %36 = icmp ult i64 %33, %35
  br i1 %36, label %37, label %60

37:                                               ; preds = %30, %54
  %38 = phi i64 [ %55, %54 ], [ %32, %30 ]
  %39 = add i64 %38, 1
  %40 = cmpxchg ptr %0, i64 %38, i64 %39 acq_rel acquire, align 8
  %41 = extractvalue { i64, i1 } %40, 1
  %42 = extractvalue { i64, i1 } %40, 0
  br i1 %41, label %43, label %54

43:                                               ; preds = %37
  %44 = load ptr, ptr %8, align 8
  %45 = load ptr, ptr %9, align 8
  %46 = trunc i64 %38 to i32
  %47 = and i32 %46, 65535
  tail call void %44(ptr noundef %45, i32 noundef %47) #17
  %48 = atomicrmw sub ptr %10, i32 1 acq_rel, align 4
  %49 = icmp eq i32 %48, 1
  br i1 %49, label %50, label %52

50:                                               ; preds = %43
  %51 = tail call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 98, i64 129, i64 1, i64 0, i64 %11) #18, !srcloc !8
  br label %52

52:                                               ; preds = %50, %43
  %53 = load atomic i64, ptr %0 acquire, align 8
  br label %54

54:                                               ; preds = %52, %37
  %55 = phi i64 [ %53, %52 ], [ %42, %37 ]
  %56 = and i64 %55, 65535
  %57 = lshr i64 %55, 16
  %58 = and i64 %57, 65535
  %59 = icmp ult i64 %56, %58
  br i1 %59, label %37, label %60, !llvm.loop !13

60:                                               ; preds = %54, %30
  %61 = load atomic i32, ptr %2 acquire, align 4
  %62 = icmp eq i32 %61, 0
  br i1 %62, label %12, label %63, !llvm.loop !14

63:                                               ; preds = %60, %1
  ret ptr null
}

; Function Attrs: nounwind
define internal void @launch_in_pool(ptr noundef %0, ptr noundef %1, ptr noundef %2, i32 noundef %3) #0 {
  %5 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 3
  %6 = atomicrmw xchg ptr %5, i32 1 acquire, align 4
  %7 = icmp eq i32 %6, 0
  br i1 %7, label %14, label %8

8:                                                ; preds = %4
  %9 = icmp eq i32 %3, 0
  br i1 %9, label %87, label %10

10:                                               ; preds = %8, %10
  %11 = phi i32 [ %12, %10 ], [ 0, %8 ]
  tail call void %1(ptr noundef %2, i32 noundef %11) #17
  %12 = add nuw i32 %11, 1
  %13 = icmp eq i32 %12, %3
  br i1 %13, label %87, label %10, !llvm.loop !15

14:                                               ; preds = %4
  %15 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 7
  store ptr %1, ptr %15, align 8
  %16 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 8
  store ptr %2, ptr %16, align 8
  %17 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 2
  store atomic i32 %3, ptr %17 monotonic, align 4
  %18 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 1
  %19 = load i32, ptr %18, align 8
  %20 = add i32 %19, 1
  %21 = zext i32 %20 to i64
  %22 = shl nuw i64 %21, 32
  %23 = zext i32 %3 to i64
  %24 = shl nuw nsw i64 %23, 16
  %25 = or i64 %22, %24
  store atomic i64 %25, ptr %0 release, align 8
  store atomic i32 %20, ptr %18 release, align 8
  %26 = add i32 %3, -1
  %27 = ptrtoint ptr %18 to i64
  %28 = zext i32 %26 to i64
  %29 = tail call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 98, i64 129, i64 %28, i64 0, i64 %27) #18, !srcloc !8
  %30 = load atomic i64, ptr %0 acquire, align 8
  %31 = and i64 %30, 65535
  %32 = lshr i64 %30, 16
  %33 = and i64 %32, 65535
  %34 = icmp ult i64 %31, %33
  br i1 %34, label %35, label %60

35:                                               ; preds = %14
  %36 = ptrtoint ptr %17 to i64
  br label %37

37:                                               ; preds = %54, %35
  %38 = phi i64 [ %30, %35 ], [ %55, %54 ]
  %39 = add i64 %38, 1
  %40 = cmpxchg ptr %0, i64 %38, i64 %39 acq_rel acquire, align 8
  %41 = extractvalue { i64, i1 } %40, 1
  %42 = extractvalue { i64, i1 } %40, 0
  br i1 %41, label %43, label %54

43:                                               ; preds = %37
  %44 = load ptr, ptr %15, align 8
  %45 = load ptr, ptr %16, align 8
  %46 = trunc i64 %38 to i32
  %47 = and i32 %46, 65535
  tail call void %44(ptr noundef %45, i32 noundef %47) #17
  %48 = atomicrmw sub ptr %17, i32 1 acq_rel, align 4
  %49 = icmp eq i32 %48, 1
  br i1 %49, label %50, label %52

50:                                               ; preds = %43
  %51 = tail call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 98, i64 129, i64 1, i64 0, i64 %36) #18, !srcloc !8
  br label %52

52:                                               ; preds = %50, %43
  %53 = load atomic i64, ptr %0 acquire, align 8
  br label %54

54:                                               ; preds = %52, %37
  %55 = phi i64 [ %53, %52 ], [ %42, %37 ]
  %56 = and i64 %55, 65535
  %57 = lshr i64 %55, 16
  %58 = and i64 %57, 65535
  %59 = icmp ult i64 %56, %58
  br i1 %59, label %37, label %60, !llvm.loop !13

60:                                               ; preds = %54, %14
  %61 = load atomic i32, ptr %17 acquire, align 4
  %62 = icmp eq i32 %61, 0
  br i1 %62, label %86, label %63

63:                                               ; preds = %60
  %64 = ptrtoint ptr %17 to i64
  br label %65

65:                                               ; preds = %63, %83
  %66 = phi i32 [ %61, %63 ], [ %84, %83 ]
  br label %72

67:                                               ; preds = %76
  %68 = load atomic i32, ptr %17 acquire, align 4
  %69 = icmp eq i32 %68, %66
  br i1 %69, label %70, label %83

70:                                               ; preds = %67
  %71 = zext i32 %66 to i64
  br label %79

72:                                               ; preds = %65, %76
  %73 = phi i32 [ %77, %76 ], [ 0, %65 ]
  %74 = load atomic i32, ptr %17 acquire, align 4
  %75 = icmp eq i32 %74, %66
  br i1 %75, label %76, label %83

76:                                               ; preds = %72
  tail call void asm sideeffect "yield", ""() #18, !srcloc !10
  %77 = add nuw nsw i32 %73, 1
  %78 = icmp eq i32 %77, 1000
  br i1 %78, label %67, label %72, !llvm.loop !11

79:                                               ; preds = %79, %70
  %80 = tail call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 98, i64 128, i64 %71, i64 0, i64 %64) #18, !srcloc !8
  %81 = load atomic i32, ptr %17 acquire, align 4
  %82 = icmp eq i32 %81, %66
  br i1 %82, label %79, label %83, !llvm.loop !12

83:                                               ; preds = %72, %79, %67
  %84 = phi i32 [ %68, %67 ], [ %81, %79 ], [ %74, %72 ]
  %85 = icmp eq i32 %84, 0
  br i1 %85, label %86, label %65, !llvm.loop !16

86:                                               ; preds = %83, %60
  store atomic i32 0, ptr %5 release, align 8
  br label %87

87:                                               ; preds = %10, %8, %86
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #2

; Function Attrs: nounwind
define i32 @model_pool_stop(ptr noundef %0) local_unnamed_addr #0 {
  %2 = icmp eq ptr %0, null
  br i1 %2, label %37, label %3

3:                                                ; preds = %1
  %4 = getelementptr inbounds %struct.model_threads, ptr %0, i64 0, i32 2
  %5 = load ptr, ptr %4, align 8
  %6 = icmp eq ptr %5, null
  br i1 %6, label %37, label %7

7:                                                ; preds = %3
  %8 = getelementptr inbounds %struct.model_threads, ptr %0, i64 0, i32 1
  %9 = load ptr, ptr %8, align 8
  %10 = icmp eq ptr %9, @launch_in_pool
  br i1 %10, label %11, label %37

11:                                               ; preds = %7
  %12 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 4
  store atomic i32 1, ptr %12 release, align 4
  %13 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 1
  %14 = atomicrmw add ptr %13, i32 1 release, align 4
  %15 = ptrtoint ptr %13 to i64
  %16 = tail call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 98, i64 129, i64 256, i64 0, i64 %15) #18, !srcloc !8
  %17 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 6
  %18 = load i32, ptr %17, align 4
  %19 = tail call i64 asm sideeffect "svc 0", "={x0},{x8},{x1},{x2},{x3},{x0},~{memory}"(i64 172, i64 0, i64 0, i64 0, i64 0) #18, !srcloc !8
  %20 = trunc i64 %19 to i32
  %21 = icmp eq i32 %18, %20
  br i1 %21, label %22, label %35

22:                                               ; preds = %11
  %23 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 5
  %24 = load i32, ptr %23, align 8
  %25 = icmp eq i32 %24, 0
  br i1 %25, label %35, label %26

26:                                               ; preds = %22, %26
  %27 = phi i64 [ %31, %26 ], [ 0, %22 ]
  %28 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 9, i64 %27
  %29 = load i64, ptr %28, align 8
  %30 = tail call i32 @pthread_join(i64 noundef %29, ptr noundef null) #17
  %31 = add nuw nsw i64 %27, 1
  %32 = load i32, ptr %23, align 8
  %33 = zext i32 %32 to i64
  %34 = icmp ult i64 %31, %33
  br i1 %34, label %26, label %35, !llvm.loop !9

35:                                               ; preds = %26, %11, %22
  store i32 1, ptr %0, align 8
  %36 = getelementptr inbounds i8, ptr %0, i64 4
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(20) %36, i8 0, i64 20, i1 false)
  br label %37

37:                                               ; preds = %7, %1, %3, %35
  %38 = phi i32 [ 0, %35 ], [ -1, %3 ], [ -1, %1 ], [ -9, %7 ]
  ret i32 %38
}

; Function Attrs: mustprogress nofree nosync nounwind willreturn memory(readwrite, inaccessiblemem: none)
define internal ptr @allocate(i32 %0, i32 %1, i64 noundef %2, i32 %3, i32 %4) #6 {
  %6 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %7 = load ptr, ptr %6, align 8
  %8 = icmp eq ptr %7, null
  br i1 %8, label %33, label %9

9:                                                ; preds = %5
  %10 = getelementptr inbounds %struct.context, ptr %7, i64 0, i32 1
  %11 = load ptr, ptr %10, align 8
  %12 = load ptr, ptr %7, align 8
  %13 = ptrtoint ptr %11 to i64
  %14 = ptrtoint ptr %12 to i64
  %15 = sub i64 %13, %14
  %16 = icmp ult i64 %15, %2
  %17 = sub nsw i64 %15, %2
  %18 = icmp slt i64 %17, 128
  %19 = select i1 %16, i1 true, i1 %18
  br i1 %19, label %33, label %20

20:                                               ; preds = %9
  %21 = getelementptr inbounds i8, ptr %12, i64 64
  %22 = getelementptr inbounds i8, ptr %12, i64 48
  store ptr %21, ptr %22, align 8
  %23 = load ptr, ptr %7, align 8
  %24 = getelementptr inbounds i8, ptr %12, i64 56
  store ptr %23, ptr %24, align 8
  %25 = icmp sgt i64 %2, 9223372036854775743
  br i1 %25, label %30, label %26

26:                                               ; preds = %20
  %27 = add nsw i64 %2, 63
  %28 = sdiv i64 %27, 64
  %29 = shl nsw i64 %28, 6
  br label %30

30:                                               ; preds = %20, %26
  %31 = phi i64 [ %29, %26 ], [ 9223372036854775807, %20 ]
  %32 = getelementptr inbounds i8, ptr %21, i64 %31
  store ptr %32, ptr %7, align 8
  br label %33

33:                                               ; preds = %5, %9, %30
  %34 = phi ptr [ %21, %30 ], [ null, %9 ], [ null, %5 ]
  ret ptr %34
}

; Function Attrs: mustprogress nofree nosync nounwind willreturn memory(readwrite, inaccessiblemem: none)
define internal i32 @release(i32 %0, i32 %1, ptr noundef readonly %2) #6 {
  %4 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %5 = load ptr, ptr %4, align 8
  %6 = icmp ne ptr %5, null
  %7 = icmp ne ptr %2, null
  %8 = and i1 %7, %6
  br i1 %8, label %9, label %12

9:                                                ; preds = %3
  %10 = getelementptr %struct.block, ptr %2, i64 -1, i32 1
  %11 = load ptr, ptr %10, align 8
  store ptr %11, ptr %5, align 8
  br label %12

12:                                               ; preds = %9, %3
  ret i32 0
}

; Function Attrs: nounwind
define internal i32 @launch(ptr noundef %0, ptr noundef %1, i32 noundef %2) #0 {
  %4 = alloca %struct.loop, align 8
  %5 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %6 = load ptr, ptr %5, align 8
  %7 = icmp eq ptr %6, null
  br i1 %7, label %18, label %8

8:                                                ; preds = %3
  %9 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 2
  %10 = load ptr, ptr %9, align 8
  %11 = icmp eq ptr %10, null
  br i1 %11, label %18, label %12

12:                                               ; preds = %8
  %13 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 5
  %14 = load ptr, ptr %13, align 8
  %15 = icmp eq ptr %14, null
  br i1 %15, label %18, label %16

16:                                               ; preds = %12
  %17 = load i32, ptr %14, align 8
  br label %18

18:                                               ; preds = %3, %8, %12, %16
  %19 = phi i32 [ %17, %16 ], [ 1, %12 ], [ 1, %8 ], [ 1, %3 ]
  call void @llvm.lifetime.start.p0(i64 48, ptr nonnull %4) #18
  store ptr %6, ptr %4, align 8
  %20 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 1
  store ptr %0, ptr %20, align 8
  %21 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 2
  store ptr %1, ptr %21, align 8
  %22 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 3
  store ptr null, ptr %22, align 8
  %23 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 3, i32 1
  %24 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 4
  store i32 0, ptr %24, align 8
  %25 = icmp sgt i32 %2, 0
  %26 = icmp ugt i32 %19, %2
  %27 = select i1 %25, i1 %26, i1 false
  %28 = select i1 %27, i32 %2, i32 %19
  store i32 %28, ptr %23, align 8
  br i1 %7, label %64, label %29

29:                                               ; preds = %18
  %30 = icmp eq i32 %28, 1
  br i1 %30, label %31, label %53

31:                                               ; preds = %29
  %32 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 2
  %33 = load ptr, ptr %32, align 8
  %34 = icmp eq ptr %33, null
  br i1 %34, label %35, label %37

35:                                               ; preds = %31
  %36 = call i32 %0(i32 noundef 0, ptr noundef nonnull %22, ptr noundef %1) #17
  br label %64

37:                                               ; preds = %31
  %38 = load ptr, ptr %5, align 8
  %39 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 3
  %40 = load ptr, ptr %39, align 8
  store ptr %33, ptr %40, align 8
  %41 = load ptr, ptr %4, align 8
  %42 = getelementptr inbounds %struct.context, ptr %41, i64 0, i32 4
  %43 = load i64, ptr %42, align 8
  %44 = getelementptr inbounds i8, ptr %33, i64 %43
  %45 = getelementptr inbounds %struct.context, ptr %40, i64 0, i32 1
  store ptr %44, ptr %45, align 8
  %46 = getelementptr inbounds %struct.context, ptr %40, i64 0, i32 2
  store ptr null, ptr %46, align 8
  store ptr %40, ptr %5, align 8
  %47 = load ptr, ptr %20, align 8
  %48 = load ptr, ptr %21, align 8
  %49 = call i32 %47(i32 noundef 0, ptr noundef nonnull %22, ptr noundef %48) #17
  %50 = icmp eq i32 %49, 0
  br i1 %50, label %52, label %51

51:                                               ; preds = %37
  store atomic i32 1, ptr %24 monotonic, align 8
  br label %52

52:                                               ; preds = %37, %51
  store ptr %38, ptr %5, align 8
  br label %60

53:                                               ; preds = %29
  %54 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 5
  %55 = load ptr, ptr %54, align 8
  %56 = getelementptr inbounds %struct.model_threads, ptr %55, i64 0, i32 1
  %57 = load ptr, ptr %56, align 8
  %58 = getelementptr inbounds %struct.model_threads, ptr %55, i64 0, i32 2
  %59 = load ptr, ptr %58, align 8
  call void %57(ptr noundef %59, ptr noundef nonnull @run_task, ptr noundef nonnull %4, i32 noundef %28) #17
  br label %60

60:                                               ; preds = %53, %52
  %61 = load i32, ptr %24, align 8
  %62 = icmp ne i32 %61, 0
  %63 = sext i1 %62 to i32
  br label %64

64:                                               ; preds = %18, %60, %35
  %65 = phi i32 [ %63, %60 ], [ %36, %35 ], [ -1, %18 ]
  call void @llvm.lifetime.end.p0(i64 48, ptr nonnull %4) #18
  ret i32 %65
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define internal void @set_error(ptr nocapture %0, ptr nocapture %1) #1 {
  ret void
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define internal void @set_error_parts(ptr nocapture %0, ptr nocapture %1, i32 %2) #1 {
  ret void
}

; Function Attrs: mustprogress nofree norecurse nounwind willreturn memory(readwrite, inaccessiblemem: none)
define i32 @model_describe(ptr noundef writeonly %0) local_unnamed_addr #7 {
  %2 = load atomic i32, ptr @chosen acquire, align 4
  %3 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %4 = zext i32 %3 to i64
  %5 = getelementptr inbounds i8, ptr @model_plan, i64 %4
  %6 = add i32 %2, -1
  %7 = zext i32 %6 to i64
  %8 = getelementptr inbounds %struct.plan_code, ptr %5, i64 %7
  %9 = icmp eq ptr %0, null
  br i1 %9, label %39, label %10

10:                                               ; preds = %1
  %11 = icmp eq i32 %2, 0
  %12 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 8), align 4
  %13 = zext i32 %12 to i64
  %14 = getelementptr inbounds i8, ptr @model_plan, i64 %13
  store ptr %14, ptr %0, align 8
  %15 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 9), align 4
  %16 = zext i32 %15 to i64
  %17 = getelementptr inbounds i8, ptr @model_plan, i64 %16
  %18 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 1
  store ptr %17, ptr %18, align 8
  %19 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 10), align 4
  %20 = zext i32 %19 to i64
  %21 = getelementptr inbounds i8, ptr @model_plan, i64 %20
  %22 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 2
  store ptr %21, ptr %22, align 8
  br i1 %11, label %27, label %23

23:                                               ; preds = %10
  %24 = load i32, ptr %8, align 8
  %25 = zext i32 %24 to i64
  %26 = getelementptr inbounds i8, ptr @model_plan, i64 %25
  br label %27

27:                                               ; preds = %10, %23
  %28 = phi ptr [ %26, %23 ], [ null, %10 ]
  %29 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 3
  store ptr %28, ptr %29, align 8
  %30 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 11), align 4
  %31 = zext i32 %30 to i64
  %32 = getelementptr inbounds i8, ptr @model_plan, i64 %31
  %33 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 4
  store ptr %32, ptr %33, align 8
  %34 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 5
  store i32 2, ptr %34, align 8
  %35 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %36 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 6
  store i32 %35, ptr %36, align 4
  %37 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 7
  %38 = load <2 x i32>, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  store <2 x i32> %38, ptr %37, align 8
  br label %39

39:                                               ; preds = %1, %27
  %40 = phi i32 [ 0, %27 ], [ -1, %1 ]
  ret i32 %40
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define nonnull ptr @model_status_text(i32 noundef %0) local_unnamed_addr #1 {
  %2 = add i32 %0, 16
  %3 = icmp ult i32 %2, 17
  br i1 %3, label %4, label %8

4:                                                ; preds = %1
  %5 = sext i32 %2 to i64
  %6 = shl i64 %5, 2
  %7 = call ptr @llvm.load.relative.i64(ptr @reltable.model_status_text, i64 %6)
  br label %8

8:                                                ; preds = %1, %4
  %9 = phi ptr [ %7, %4 ], [ @.str.17, %1 ]
  ret ptr %9
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: write)
define i32 @model_dimension(i32 noundef %0, ptr noundef writeonly %1) local_unnamed_addr #8 {
  %3 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 12), align 4
  %4 = zext i32 %3 to i64
  %5 = getelementptr inbounds i8, ptr @model_plan, i64 %4
  %6 = zext i32 %0 to i64
  %7 = getelementptr inbounds %struct.plan_dimension, ptr %5, i64 %6
  %8 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 7), align 4
  %9 = icmp ugt i32 %8, %0
  br i1 %9, label %10, label %23

10:                                               ; preds = %2
  %11 = icmp eq ptr %1, null
  br i1 %11, label %23, label %12

12:                                               ; preds = %10
  %13 = load i32, ptr %7, align 8
  %14 = zext i32 %13 to i64
  %15 = getelementptr inbounds i8, ptr @model_plan, i64 %14
  %16 = getelementptr inbounds %struct.plan_dimension, ptr %5, i64 %6, i32 2
  %17 = getelementptr inbounds %struct.plan_dimension, ptr %5, i64 %6, i32 1
  %18 = load i32, ptr %17, align 4
  %19 = zext i32 %18 to i64
  store ptr %15, ptr %1, align 8
  %20 = getelementptr inbounds i8, ptr %1, i64 8
  %21 = load <2 x i64>, ptr %16, align 8
  store <2 x i64> %21, ptr %20, align 8
  %22 = getelementptr inbounds i8, ptr %1, i64 24
  store i64 %19, ptr %22, align 8
  br label %23

23:                                               ; preds = %10, %2, %12
  %24 = phi i32 [ 0, %12 ], [ -6, %2 ], [ -1, %10 ]
  ret i32 %24
}

; Function Attrs: nofree nosync nounwind memory(write, argmem: readwrite, inaccessiblemem: none)
define i32 @model_input(i32 noundef %0, ptr noundef %1, ptr noundef %2) local_unnamed_addr #9 {
  %4 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %5 = icmp ugt i32 %4, %0
  br i1 %5, label %6, label %13

6:                                                ; preds = %3
  %7 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %8 = zext i32 %7 to i64
  %9 = getelementptr inbounds i8, ptr @model_plan, i64 %8
  %10 = zext i32 %0 to i64
  %11 = getelementptr inbounds %struct.plan_tensor, ptr %9, i64 %10
  %12 = tail call fastcc i32 @describe_tensor(ptr noundef nonnull %11, ptr noundef %1, ptr noundef %2) #20
  br label %13

13:                                               ; preds = %3, %6
  %14 = phi i32 [ %12, %6 ], [ -6, %3 ]
  ret i32 %14
}

; Function Attrs: nofree nosync nounwind memory(write, argmem: readwrite, inaccessiblemem: none)
define internal fastcc i32 @describe_tensor(ptr nocapture noundef readonly %0, ptr noundef %1, ptr noundef writeonly %2) unnamed_addr #9 {
  %4 = alloca [2048 x i64], align 8
  call void @llvm.lifetime.start.p0(i64 16384, ptr nonnull %4) #18
  %5 = icmp ne ptr %1, null
  br i1 %5, label %6, label %11

6:                                                ; preds = %3
  %7 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 14), align 4
  %8 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 15), align 4
  %9 = call fastcc i32 @fill_numbers(ptr noundef nonnull %1, i32 noundef %7, i32 noundef %8, ptr noundef nonnull %4) #20
  %10 = icmp eq ptr %2, null
  br i1 %10, label %167, label %13

11:                                               ; preds = %3
  %12 = icmp eq ptr %2, null
  br i1 %12, label %167, label %15

13:                                               ; preds = %6
  %14 = icmp eq i32 %9, 0
  br i1 %14, label %15, label %167

15:                                               ; preds = %11, %13
  %16 = load i32, ptr %0, align 8
  %17 = zext i32 %16 to i64
  %18 = getelementptr inbounds i8, ptr @model_plan, i64 %17
  store ptr %18, ptr %2, align 8
  %19 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 1
  %20 = load i32, ptr %19, align 4
  %21 = zext i32 %20 to i64
  %22 = getelementptr inbounds i8, ptr @model_plan, i64 %21
  %23 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 1
  store ptr %22, ptr %23, align 8
  %24 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 2
  %25 = load i32, ptr %24, align 8
  %26 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 2
  store i32 %25, ptr %26, align 8
  %27 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 3
  %28 = load i32, ptr %27, align 4
  %29 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 3
  store i32 %28, ptr %29, align 4
  %30 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 0
  %31 = load i64, ptr %30, align 8
  br i1 %5, label %32, label %113

32:                                               ; preds = %15
  %33 = icmp slt i64 %31, 0
  br i1 %33, label %34, label %38

34:                                               ; preds = %32
  %35 = xor i64 %31, -1
  %36 = getelementptr inbounds i64, ptr %4, i64 %35
  %37 = load i64, ptr %36, align 8
  br label %38

38:                                               ; preds = %34, %32
  %39 = phi i64 [ %31, %32 ], [ %37, %34 ]
  %40 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 0
  store i64 %39, ptr %40, align 8
  %41 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 1
  %42 = load i64, ptr %41, align 8
  %43 = icmp slt i64 %42, 0
  br i1 %43, label %44, label %48

44:                                               ; preds = %38
  %45 = xor i64 %42, -1
  %46 = getelementptr inbounds i64, ptr %4, i64 %45
  %47 = load i64, ptr %46, align 8
  br label %48

48:                                               ; preds = %44, %38
  %49 = phi i64 [ %42, %38 ], [ %47, %44 ]
  %50 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 1
  store i64 %49, ptr %50, align 8
  %51 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 2
  %52 = load i64, ptr %51, align 8
  %53 = icmp slt i64 %52, 0
  br i1 %53, label %54, label %58

54:                                               ; preds = %48
  %55 = xor i64 %52, -1
  %56 = getelementptr inbounds i64, ptr %4, i64 %55
  %57 = load i64, ptr %56, align 8
  br label %58

58:                                               ; preds = %54, %48
  %59 = phi i64 [ %52, %48 ], [ %57, %54 ]
  %60 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 2
  store i64 %59, ptr %60, align 8
  %61 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 3
  %62 = load i64, ptr %61, align 8
  %63 = icmp slt i64 %62, 0
  br i1 %63, label %64, label %68

64:                                               ; preds = %58
  %65 = xor i64 %62, -1
  %66 = getelementptr inbounds i64, ptr %4, i64 %65
  %67 = load i64, ptr %66, align 8
  br label %68

68:                                               ; preds = %64, %58
  %69 = phi i64 [ %62, %58 ], [ %67, %64 ]
  %70 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 3
  store i64 %69, ptr %70, align 8
  %71 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 4
  %72 = load i64, ptr %71, align 8
  %73 = icmp slt i64 %72, 0
  br i1 %73, label %74, label %78

74:                                               ; preds = %68
  %75 = xor i64 %72, -1
  %76 = getelementptr inbounds i64, ptr %4, i64 %75
  %77 = load i64, ptr %76, align 8
  br label %78

78:                                               ; preds = %74, %68
  %79 = phi i64 [ %72, %68 ], [ %77, %74 ]
  %80 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 4
  store i64 %79, ptr %80, align 8
  %81 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 5
  %82 = load i64, ptr %81, align 8
  %83 = icmp slt i64 %82, 0
  br i1 %83, label %84, label %88

84:                                               ; preds = %78
  %85 = xor i64 %82, -1
  %86 = getelementptr inbounds i64, ptr %4, i64 %85
  %87 = load i64, ptr %86, align 8
  br label %88

88:                                               ; preds = %84, %78
  %89 = phi i64 [ %82, %78 ], [ %87, %84 ]
  %90 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 5
  store i64 %89, ptr %90, align 8
  %91 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 6
  %92 = load i64, ptr %91, align 8
  %93 = icmp slt i64 %92, 0
  br i1 %93, label %94, label %98

94:                                               ; preds = %88
  %95 = xor i64 %92, -1
  %96 = getelementptr inbounds i64, ptr %4, i64 %95
  %97 = load i64, ptr %96, align 8
  br label %98

98:                                               ; preds = %94, %88
  %99 = phi i64 [ %92, %88 ], [ %97, %94 ]
  %100 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 6
  store i64 %99, ptr %100, align 8
  %101 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 7
  %102 = load i64, ptr %101, align 8
  %103 = icmp slt i64 %102, 0
  br i1 %103, label %104, label %108

104:                                              ; preds = %98
  %105 = xor i64 %102, -1
  %106 = getelementptr inbounds i64, ptr %4, i64 %105
  %107 = load i64, ptr %106, align 8
  br label %108

108:                                              ; preds = %104, %98
  %109 = phi i64 [ %102, %98 ], [ %107, %104 ]
  %110 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 7
  store i64 %109, ptr %110, align 8
  %111 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 9
  %112 = load i64, ptr %111, align 8
  br label %151

113:                                              ; preds = %15
  %114 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 7), align 4
  %115 = zext i32 %114 to i64
  %116 = xor i64 %115, -1
  %117 = tail call i64 @llvm.smax.i64(i64 %31, i64 %116)
  %118 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 0
  store i64 %117, ptr %118, align 8
  %119 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 1
  %120 = load i64, ptr %119, align 8
  %121 = tail call i64 @llvm.smax.i64(i64 %120, i64 %116)
  %122 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 1
  store i64 %121, ptr %122, align 8
  %123 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 2
  %124 = load i64, ptr %123, align 8
  %125 = tail call i64 @llvm.smax.i64(i64 %124, i64 %116)
  %126 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 2
  store i64 %125, ptr %126, align 8
  %127 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 3
  %128 = load i64, ptr %127, align 8
  %129 = tail call i64 @llvm.smax.i64(i64 %128, i64 %116)
  %130 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 3
  store i64 %129, ptr %130, align 8
  %131 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 4
  %132 = load i64, ptr %131, align 8
  %133 = tail call i64 @llvm.smax.i64(i64 %132, i64 %116)
  %134 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 4
  store i64 %133, ptr %134, align 8
  %135 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 5
  %136 = load i64, ptr %135, align 8
  %137 = tail call i64 @llvm.smax.i64(i64 %136, i64 %116)
  %138 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 5
  store i64 %137, ptr %138, align 8
  %139 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 6
  %140 = load i64, ptr %139, align 8
  %141 = tail call i64 @llvm.smax.i64(i64 %140, i64 %116)
  %142 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 6
  store i64 %141, ptr %142, align 8
  %143 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 7
  %144 = load i64, ptr %143, align 8
  %145 = tail call i64 @llvm.smax.i64(i64 %144, i64 %116)
  %146 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 7
  store i64 %145, ptr %146, align 8
  %147 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 9
  %148 = load i64, ptr %147, align 8
  %149 = icmp sgt i64 %148, -1
  %150 = or i1 %5, %149
  br i1 %150, label %151, label %158

151:                                              ; preds = %108, %113
  %152 = phi i64 [ %112, %108 ], [ %148, %113 ]
  %153 = icmp slt i64 %152, 0
  br i1 %153, label %154, label %158

154:                                              ; preds = %151
  %155 = xor i64 %152, -1
  %156 = getelementptr inbounds i64, ptr %4, i64 %155
  %157 = load i64, ptr %156, align 8
  br label %158

158:                                              ; preds = %154, %151, %113
  %159 = phi i64 [ -1, %113 ], [ %157, %154 ], [ %152, %151 ]
  %160 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 5
  store i64 %159, ptr %160, align 8
  %161 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 6
  %162 = load double, ptr %161, align 8
  %163 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 6
  store double %162, ptr %163, align 8
  %164 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 7
  %165 = load i64, ptr %164, align 8
  %166 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 7
  store i64 %165, ptr %166, align 8
  br label %167

167:                                              ; preds = %11, %13, %6, %158
  %168 = phi i32 [ 0, %158 ], [ -1, %6 ], [ %9, %13 ], [ -1, %11 ]
  call void @llvm.lifetime.end.p0(i64 16384, ptr nonnull %4) #18
  ret i32 %168
}

; Function Attrs: nofree nosync nounwind memory(write, argmem: readwrite, inaccessiblemem: none)
define i32 @model_output(i32 noundef %0, ptr noundef %1, ptr noundef %2) local_unnamed_addr #9 {
  %4 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %5 = icmp ugt i32 %4, %0
  br i1 %5, label %6, label %13

6:                                                ; preds = %3
  %7 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 5), align 4
  %8 = zext i32 %7 to i64
  %9 = getelementptr inbounds i8, ptr @model_plan, i64 %8
  %10 = zext i32 %0 to i64
  %11 = getelementptr inbounds %struct.plan_tensor, ptr %9, i64 %10
  %12 = tail call fastcc i32 @describe_tensor(ptr noundef nonnull %11, ptr noundef %1, ptr noundef %2) #20
  br label %13

13:                                               ; preds = %3, %6
  %14 = phi i32 [ %12, %6 ], [ -6, %3 ]
  ret i32 %14
}

; Function Attrs: nofree nounwind memory(readwrite, inaccessiblemem: none)
define i64 @model_workspace_bytes(ptr noundef %0, i32 noundef %1) local_unnamed_addr #10 {
  %3 = alloca [2048 x i64], align 8
  %4 = load atomic i32, ptr @chosen acquire, align 4
  %5 = icmp eq i32 %4, 0
  %6 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %7 = zext i32 %6 to i64
  %8 = getelementptr inbounds i8, ptr @model_plan, i64 %7
  %9 = add i32 %4, -1
  %10 = zext i32 %9 to i64
  %11 = getelementptr inbounds %struct.plan_code, ptr %8, i64 %10
  %12 = select i1 %5, ptr null, ptr %11
  call void @llvm.lifetime.start.p0(i64 16384, ptr nonnull %3) #18
  br i1 %5, label %30, label %13

13:                                               ; preds = %2
  %14 = icmp eq i32 %1, 0
  br i1 %14, label %30, label %15

15:                                               ; preds = %13
  %16 = getelementptr inbounds %struct.plan_code, ptr %12, i64 0, i32 13
  %17 = load i32, ptr %16, align 8
  %18 = getelementptr inbounds %struct.plan_code, ptr %12, i64 0, i32 14
  %19 = load i32, ptr %18, align 4
  %20 = call fastcc i32 @fill_numbers(ptr noundef %0, i32 noundef %17, i32 noundef %19, ptr noundef nonnull %3) #20
  %21 = icmp eq i32 %20, 0
  br i1 %21, label %24, label %22

22:                                               ; preds = %15
  %23 = sext i32 %20 to i64
  br label %26

24:                                               ; preds = %15
  %25 = call fastcc i64 @workspace_bytes(ptr noundef nonnull %12, ptr noundef nonnull %3, i32 noundef %1) #20
  br label %26

26:                                               ; preds = %24, %22
  %27 = phi i64 [ %23, %22 ], [ %25, %24 ]
  %28 = icmp eq i64 %27, 9223372036854775807
  %29 = select i1 %28, i64 -5, i64 %27
  br label %30

30:                                               ; preds = %13, %2, %26
  %31 = phi i64 [ %29, %26 ], [ -8, %2 ], [ -9, %13 ]
  call void @llvm.lifetime.end.p0(i64 16384, ptr nonnull %3) #18
  ret i64 %31
}

; Function Attrs: nofree nosync nounwind memory(write, argmem: readwrite, inaccessiblemem: none)
define internal fastcc i32 @fill_numbers(ptr noundef readonly %0, i32 noundef %1, i32 noundef %2, ptr nocapture noundef %3) unnamed_addr #9 {
  %5 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 12), align 4
  %6 = zext i32 %5 to i64
  %7 = getelementptr inbounds i8, ptr @model_plan, i64 %6
  %8 = zext i32 %1 to i64
  %9 = getelementptr inbounds i8, ptr @model_plan, i64 %8
  %10 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 7), align 4
  %11 = icmp eq i32 %10, 0
  %12 = icmp ne ptr %0, null
  %13 = or i1 %12, %11
  br i1 %13, label %14, label %150

14:                                               ; preds = %4
  br i1 %11, label %38, label %15

15:                                               ; preds = %14
  %16 = zext i32 %10 to i64
  br label %17

17:                                               ; preds = %15, %34
  %18 = phi i64 [ 0, %15 ], [ %36, %34 ]
  %19 = getelementptr inbounds i64, ptr %0, i64 %18
  %20 = load i64, ptr %19, align 8
  %21 = getelementptr inbounds %struct.plan_dimension, ptr %7, i64 %18, i32 2
  %22 = load i64, ptr %21, align 8
  %23 = icmp slt i64 %20, %22
  br i1 %23, label %150, label %24

24:                                               ; preds = %17
  %25 = getelementptr inbounds %struct.plan_dimension, ptr %7, i64 %18, i32 3
  %26 = load i64, ptr %25, align 8
  %27 = icmp sgt i64 %20, %26
  br i1 %27, label %150, label %28

28:                                               ; preds = %24
  %29 = getelementptr inbounds %struct.plan_dimension, ptr %7, i64 %18, i32 1
  %30 = load i32, ptr %29, align 4
  %31 = zext i32 %30 to i64
  %32 = srem i64 %20, %31
  %33 = icmp eq i64 %32, 0
  br i1 %33, label %34, label %150

34:                                               ; preds = %28
  %35 = getelementptr inbounds i64, ptr %3, i64 %18
  store i64 %20, ptr %35, align 8
  %36 = add nuw nsw i64 %18, 1
  %37 = icmp eq i64 %36, %16
  br i1 %37, label %38, label %17, !llvm.loop !17

38:                                               ; preds = %34, %14
  %39 = phi i64 [ 0, %14 ], [ %16, %34 ]
  %40 = icmp eq i32 %2, 0
  br i1 %40, label %150, label %41

41:                                               ; preds = %38
  %42 = getelementptr inbounds i64, ptr %3, i64 %39
  br label %43

43:                                               ; preds = %41, %145
  %44 = phi i32 [ %146, %145 ], [ %2, %41 ]
  %45 = phi ptr [ %148, %145 ], [ %42, %41 ]
  %46 = phi ptr [ %147, %145 ], [ %9, %41 ]
  %47 = getelementptr inbounds %struct.plan_operation, ptr %46, i64 0, i32 2
  %48 = load i64, ptr %47, align 8
  %49 = icmp slt i64 %48, 0
  br i1 %49, label %50, label %54

50:                                               ; preds = %43
  %51 = xor i64 %48, -1
  %52 = getelementptr inbounds i64, ptr %3, i64 %51
  %53 = load i64, ptr %52, align 8
  br label %54

54:                                               ; preds = %43, %50
  %55 = phi i64 [ %53, %50 ], [ %48, %43 ]
  %56 = getelementptr inbounds %struct.plan_operation, ptr %46, i64 0, i32 3
  %57 = load i64, ptr %56, align 8
  %58 = icmp slt i64 %57, 0
  br i1 %58, label %59, label %63

59:                                               ; preds = %54
  %60 = xor i64 %57, -1
  %61 = getelementptr inbounds i64, ptr %3, i64 %60
  %62 = load i64, ptr %61, align 8
  br label %63

63:                                               ; preds = %54, %59
  %64 = phi i64 [ %62, %59 ], [ %57, %54 ]
  %65 = load i32, ptr %46, align 8
  %66 = getelementptr inbounds %struct.plan_operation, ptr %46, i64 0, i32 4
  %67 = load i64, ptr %66, align 8
  %68 = icmp slt i64 %67, 0
  br i1 %68, label %69, label %73

69:                                               ; preds = %63
  %70 = xor i64 %67, -1
  %71 = getelementptr inbounds i64, ptr %3, i64 %70
  %72 = load i64, ptr %71, align 8
  br label %73

73:                                               ; preds = %63, %69
  %74 = phi i64 [ %72, %69 ], [ %67, %63 ]
  switch i32 %65, label %150 [
    i32 0, label %143
    i32 1, label %139
    i32 2, label %75
    i32 3, label %79
    i32 4, label %83
    i32 5, label %83
    i32 6, label %83
    i32 7, label %83
    i32 8, label %116
    i32 9, label %118
    i32 10, label %120
    i32 11, label %123
    i32 12, label %126
    i32 13, label %129
    i32 14, label %132
    i32 15, label %135
    i32 16, label %137
  ]

75:                                               ; preds = %73
  %76 = tail call { i64, i1 } @llvm.ssub.with.overflow.i64(i64 %55, i64 %64)
  %77 = extractvalue { i64, i1 } %76, 1
  %78 = extractvalue { i64, i1 } %76, 0
  store i64 %78, ptr %45, align 8
  br i1 %77, label %150, label %145

79:                                               ; preds = %73
  %80 = tail call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %55, i64 %64)
  %81 = extractvalue { i64, i1 } %80, 1
  %82 = extractvalue { i64, i1 } %80, 0
  store i64 %82, ptr %45, align 8
  br i1 %81, label %150, label %145

83:                                               ; preds = %73, %73, %73, %73
  %84 = and i32 %65, -3
  %85 = icmp eq i32 %84, 4
  %86 = icmp eq i64 %64, 0
  br i1 %86, label %150, label %87

87:                                               ; preds = %83
  %88 = icmp eq i64 %55, -9223372036854775808
  %89 = and i1 %88, %85
  %90 = icmp eq i64 %64, -1
  %91 = and i1 %90, %89
  br i1 %91, label %150, label %92

92:                                               ; preds = %87
  br i1 %85, label %93, label %95

93:                                               ; preds = %92
  %94 = sdiv i64 %55, %64
  br label %95

95:                                               ; preds = %93, %92
  %96 = phi i64 [ %94, %93 ], [ 0, %92 ]
  br i1 %90, label %112, label %97

97:                                               ; preds = %95
  %98 = srem i64 %55, %64
  %99 = and i32 %65, -2
  %100 = icmp eq i32 %99, 4
  %101 = icmp ne i64 %98, 0
  %102 = and i1 %100, %101
  br i1 %102, label %103, label %112

103:                                              ; preds = %97
  %104 = lshr i64 %98, 63
  %105 = trunc i64 %104 to i32
  %106 = lshr i64 %64, 63
  %107 = trunc i64 %106 to i32
  %108 = icmp eq i32 %105, %107
  br i1 %108, label %112, label %109

109:                                              ; preds = %103
  %110 = add nsw i64 %96, -1
  %111 = add nsw i64 %98, %64
  br label %112

112:                                              ; preds = %109, %103, %97, %95
  %113 = phi i64 [ %110, %109 ], [ %96, %103 ], [ %96, %97 ], [ %96, %95 ]
  %114 = phi i64 [ %111, %109 ], [ %98, %103 ], [ %98, %97 ], [ 0, %95 ]
  %115 = select i1 %85, i64 %113, i64 %114
  br label %143

116:                                              ; preds = %73
  %117 = tail call i64 @llvm.smin.i64(i64 %55, i64 %64)
  br label %143

118:                                              ; preds = %73
  %119 = tail call i64 @llvm.smax.i64(i64 %55, i64 %64)
  br label %143

120:                                              ; preds = %73
  %121 = icmp slt i64 %55, %64
  %122 = zext i1 %121 to i64
  br label %143

123:                                              ; preds = %73
  %124 = icmp eq i64 %55, %64
  %125 = zext i1 %124 to i64
  br label %143

126:                                              ; preds = %73
  %127 = icmp eq i64 %55, 0
  %128 = select i1 %127, i64 %74, i64 %64
  br label %143

129:                                              ; preds = %73
  %130 = tail call i64 @llvm.umin.i64(i64 %64, i64 63)
  %131 = ashr i64 %55, %130
  br label %143

132:                                              ; preds = %73
  store i64 %55, ptr %45, align 8
  %133 = add i64 %55, -2147483648
  %134 = icmp ult i64 %133, -4294967296
  br i1 %134, label %150, label %145

135:                                              ; preds = %73
  store i64 %55, ptr %45, align 8
  %136 = icmp ugt i64 %55, 2147483647
  br i1 %136, label %150, label %145

137:                                              ; preds = %73
  store i64 %55, ptr %45, align 8
  %138 = icmp eq i64 %55, %64
  br i1 %138, label %145, label %150

139:                                              ; preds = %73
  %140 = tail call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %55, i64 %64)
  %141 = extractvalue { i64, i1 } %140, 1
  %142 = extractvalue { i64, i1 } %140, 0
  store i64 %142, ptr %45, align 8
  br i1 %141, label %150, label %145

143:                                              ; preds = %73, %129, %126, %123, %120, %118, %116, %112
  %144 = phi i64 [ %115, %112 ], [ %117, %116 ], [ %119, %118 ], [ %122, %120 ], [ %125, %123 ], [ %128, %126 ], [ %131, %129 ], [ %55, %73 ]
  store i64 %144, ptr %45, align 8
  br label %145

145:                                              ; preds = %143, %75, %79, %132, %135, %137, %139
  %146 = add i32 %44, -1
  %147 = getelementptr inbounds %struct.plan_operation, ptr %46, i64 1
  %148 = getelementptr inbounds i64, ptr %45, i64 1
  %149 = icmp eq i32 %146, 0
  br i1 %149, label %150, label %43, !llvm.loop !18

150:                                              ; preds = %24, %17, %28, %83, %87, %73, %145, %139, %137, %135, %132, %79, %75, %38, %4
  %151 = phi i32 [ -5, %4 ], [ 0, %38 ], [ -5, %75 ], [ -5, %79 ], [ -5, %132 ], [ -5, %135 ], [ -5, %137 ], [ -5, %83 ], [ -5, %87 ], [ -5, %73 ], [ 0, %145 ], [ -5, %139 ], [ -5, %24 ], [ -5, %17 ], [ -16, %28 ]
  ret i32 %151
}

; Function Attrs: nofree nosync nounwind memory(argmem: read)
define internal fastcc i64 @workspace_bytes(ptr nocapture noundef readonly %0, ptr nocapture noundef readonly %1, i32 noundef %2) unnamed_addr #11 {
  %4 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 7), align 4
  %5 = getelementptr inbounds %struct.plan_code, ptr %0, i64 0, i32 14
  %6 = load i32, ptr %5, align 4
  %7 = getelementptr inbounds %struct.plan_code, ptr %0, i64 0, i32 6
  %8 = load i32, ptr %7, align 8
  %9 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 13), align 4
  %10 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %11 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %12 = tail call fastcc i64 @copies_bytes(ptr noundef %1) #20
  %13 = getelementptr inbounds %struct.plan_code, ptr %0, i64 0, i32 8
  %14 = load i64, ptr %13, align 8
  %15 = icmp slt i64 %14, 0
  br i1 %15, label %16, label %20

16:                                               ; preds = %3
  %17 = xor i64 %14, -1
  %18 = getelementptr inbounds i64, ptr %1, i64 %17
  %19 = load i64, ptr %18, align 8
  br label %20

20:                                               ; preds = %3, %16
  %21 = phi i64 [ %19, %16 ], [ %14, %3 ]
  %22 = icmp sgt i64 %21, 9223372036854775743
  br i1 %22, label %27, label %23

23:                                               ; preds = %20
  %24 = add nsw i64 %21, 63
  %25 = sdiv i64 %24, 64
  %26 = shl nsw i64 %25, 6
  br label %27

27:                                               ; preds = %20, %23
  %28 = phi i64 [ %26, %23 ], [ 9223372036854775807, %20 ]
  %29 = getelementptr inbounds %struct.plan_code, ptr %0, i64 0, i32 9
  %30 = load i64, ptr %29, align 8
  %31 = icmp slt i64 %30, 0
  br i1 %31, label %32, label %36

32:                                               ; preds = %27
  %33 = xor i64 %30, -1
  %34 = getelementptr inbounds i64, ptr %1, i64 %33
  %35 = load i64, ptr %34, align 8
  br label %36

36:                                               ; preds = %27, %32
  %37 = phi i64 [ %35, %32 ], [ %30, %27 ]
  %38 = icmp sgt i64 %37, 9223372036854775743
  br i1 %38, label %43, label %39

39:                                               ; preds = %36
  %40 = add nsw i64 %37, 63
  %41 = sdiv i64 %40, 64
  %42 = shl nsw i64 %41, 6
  br label %43

43:                                               ; preds = %36, %39
  %44 = phi i64 [ %42, %39 ], [ 9223372036854775807, %36 ]
  %45 = getelementptr inbounds %struct.plan_code, ptr %0, i64 0, i32 10
  %46 = load i64, ptr %45, align 8
  %47 = icmp slt i64 %46, 0
  br i1 %47, label %48, label %52

48:                                               ; preds = %43
  %49 = xor i64 %46, -1
  %50 = getelementptr inbounds i64, ptr %1, i64 %49
  %51 = load i64, ptr %50, align 8
  br label %52

52:                                               ; preds = %43, %48
  %53 = phi i64 [ %51, %48 ], [ %46, %43 ]
  %54 = icmp sgt i64 %53, 9223372036854775743
  br i1 %54, label %59, label %55

55:                                               ; preds = %52
  %56 = add nsw i64 %53, 63
  %57 = sdiv i64 %56, 64
  %58 = shl nsw i64 %57, 6
  br label %59

59:                                               ; preds = %52, %55
  %60 = phi i64 [ %58, %55 ], [ 9223372036854775807, %52 ]
  %61 = zext i32 %6 to i64
  %62 = zext i32 %4 to i64
  %63 = add nuw nsw i64 %61, %62
  %64 = shl nuw nsw i64 %63, 3
  %65 = add nuw nsw i64 %64, 63
  %66 = and i64 %65, 137438953408
  %67 = zext i32 %8 to i64
  %68 = mul nuw nsw i64 %67, 48
  %69 = add nuw nsw i64 %68, 63
  %70 = and i64 %69, 549755813824
  %71 = shl nuw nsw i64 %67, 4
  %72 = add nuw nsw i64 %71, 63
  %73 = and i64 %72, 137438953408
  %74 = zext i32 %2 to i64
  %75 = mul nuw nsw i64 %74, 48
  %76 = add nuw nsw i64 %75, 111
  %77 = and i64 %76, 549755813824
  %78 = icmp eq i32 %9, 0
  %79 = add i32 %11, %10
  %80 = select i1 %78, i32 0, i32 %79
  %81 = zext i32 %80 to i64
  %82 = shl nuw nsw i64 %81, 4
  %83 = add nuw nsw i64 %82, 63
  %84 = and i64 %83, 137438953408
  %85 = add nuw nsw i64 %70, %77
  %86 = add nuw nsw i64 %85, %66
  %87 = add nuw nsw i64 %86, %73
  %88 = add nuw nsw i64 %87, %84
  %89 = tail call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %88, i64 %12)
  %90 = extractvalue { i64, i1 } %89, 1
  %91 = extractvalue { i64, i1 } %89, 0
  %92 = select i1 %90, i64 9223372036854775807, i64 %91
  %93 = tail call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %92, i64 %28)
  %94 = extractvalue { i64, i1 } %93, 1
  %95 = extractvalue { i64, i1 } %93, 0
  %96 = select i1 %94, i64 9223372036854775807, i64 %95
  %97 = tail call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %96, i64 %44)
  %98 = extractvalue { i64, i1 } %97, 1
  %99 = extractvalue { i64, i1 } %97, 0
  %100 = select i1 %98, i64 9223372036854775807, i64 %99
  %101 = tail call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %74, i64 %60)
  %102 = extractvalue { i64, i1 } %101, 1
  %103 = extractvalue { i64, i1 } %101, 0
  %104 = select i1 %102, i64 9223372036854775807, i64 %103
  %105 = tail call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %100, i64 %104)
  %106 = extractvalue { i64, i1 } %105, 1
  %107 = extractvalue { i64, i1 } %105, 0
  %108 = select i1 %106, i64 9223372036854775807, i64 %107
  ret i64 %108
}

; Function Attrs: nounwind
define i32 @model_run(ptr noundef %0, ptr noundef %1, ptr noundef %2, [2 x i64] %3, ptr noundef %4) local_unnamed_addr #0 {
  %6 = alloca %struct.run, align 8
  %7 = extractvalue [2 x i64] %3, 0
  %8 = inttoptr i64 %7 to ptr
  call void @llvm.lifetime.start.p0(i64 88, ptr nonnull %6) #18
  %9 = load atomic i32, ptr @chosen acquire, align 4
  %10 = icmp eq i32 %9, 0
  %11 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %12 = zext i32 %11 to i64
  %13 = getelementptr inbounds i8, ptr @model_plan, i64 %12
  %14 = add i32 %9, -1
  %15 = zext i32 %14 to i64
  %16 = getelementptr inbounds %struct.plan_code, ptr %13, i64 %15
  %17 = select i1 %10, ptr null, ptr %16
  store ptr %17, ptr %6, align 8
  %18 = getelementptr inbounds %struct.run, ptr %6, i64 0, i32 1
  store ptr %1, ptr %18, align 8
  %19 = getelementptr inbounds %struct.run, ptr %6, i64 0, i32 2
  store ptr %2, ptr %19, align 8
  %20 = getelementptr inbounds %struct.run, ptr %6, i64 0, i32 3
  %21 = getelementptr inbounds %struct.run, ptr %6, i64 0, i32 4
  store <2 x ptr> zeroinitializer, ptr %21, align 8
  %22 = getelementptr inbounds %struct.run, ptr %6, i64 0, i32 6
  store <2 x ptr> zeroinitializer, ptr %22, align 8
  %23 = getelementptr inbounds %struct.run, ptr %6, i64 0, i32 8
  store <2 x ptr> zeroinitializer, ptr %23, align 8
  %24 = getelementptr inbounds %struct.run, ptr %6, i64 0, i32 10
  store ptr null, ptr %24, align 8
  br i1 %10, label %162, label %25

25:                                               ; preds = %5
  %26 = icmp eq ptr %4, null
  br i1 %26, label %45, label %27

27:                                               ; preds = %25
  %28 = load i32, ptr %4, align 8
  switch i32 %28, label %29 [
    i32 0, label %162
    i32 1, label %35
  ]

29:                                               ; preds = %27
  %30 = getelementptr inbounds %struct.model_threads, ptr %4, i64 0, i32 1
  %31 = load ptr, ptr %30, align 8
  %32 = icmp eq ptr %31, null
  br i1 %32, label %162, label %33

33:                                               ; preds = %29
  %34 = icmp eq ptr %31, @launch_in_pool
  br i1 %34, label %39, label %45

35:                                               ; preds = %27
  %36 = getelementptr inbounds %struct.model_threads, ptr %4, i64 0, i32 1
  %37 = load ptr, ptr %36, align 8
  %38 = icmp eq ptr %37, @launch_in_pool
  br i1 %38, label %41, label %45

39:                                               ; preds = %33
  %40 = icmp ugt i32 %28, 256
  br i1 %40, label %162, label %41

41:                                               ; preds = %39, %35
  %42 = getelementptr inbounds %struct.model_threads, ptr %4, i64 0, i32 2
  %43 = load ptr, ptr %42, align 8
  %44 = icmp eq ptr %43, null
  br i1 %44, label %162, label %45

45:                                               ; preds = %35, %41, %33, %25
  %46 = phi i32 [ 1, %25 ], [ %28, %33 ], [ %28, %41 ], [ 1, %35 ]
  %47 = extractvalue [2 x i64] %3, 1
  %48 = icmp eq i64 %7, 0
  br i1 %48, label %162, label %49

49:                                               ; preds = %45
  %50 = and i64 %7, 63
  %51 = icmp eq i64 %50, 0
  br i1 %51, label %52, label %162

52:                                               ; preds = %49
  %53 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 7), align 4
  %54 = zext i32 %53 to i64
  %55 = getelementptr inbounds %struct.plan_code, ptr %17, i64 0, i32 14
  %56 = load i32, ptr %55, align 4
  %57 = zext i32 %56 to i64
  %58 = add nuw nsw i64 %57, %54
  %59 = shl nuw nsw i64 %58, 3
  %60 = add nuw nsw i64 %59, 63
  %61 = and i64 %60, 137438953408
  %62 = icmp ult i64 %47, %61
  br i1 %62, label %162, label %63

63:                                               ; preds = %52
  store ptr %8, ptr %20, align 8
  %64 = getelementptr inbounds %struct.plan_code, ptr %17, i64 0, i32 13
  %65 = load i32, ptr %64, align 8
  %66 = tail call fastcc i32 @fill_numbers(ptr noundef %0, i32 noundef %65, i32 noundef %56, ptr noundef nonnull %8) #20
  %67 = icmp eq i32 %66, 0
  br i1 %67, label %68, label %162

68:                                               ; preds = %63
  %69 = tail call fastcc i64 @workspace_bytes(ptr noundef nonnull %17, ptr noundef nonnull %8, i32 noundef %46) #20
  %70 = icmp ult i64 %47, %69
  br i1 %70, label %162, label %71

71:                                               ; preds = %68
  %72 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %73 = zext i32 %72 to i64
  %74 = getelementptr inbounds i8, ptr @model_plan, i64 %73
  %75 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %76 = icmp eq i32 %75, 0
  %77 = icmp ne ptr %1, null
  %78 = xor i1 %77, true
  %79 = or i1 %76, %78
  br i1 %79, label %112, label %80

80:                                               ; preds = %71
  %81 = zext i32 %75 to i64
  br label %85

82:                                               ; preds = %105
  %83 = add nuw nsw i64 %86, 1
  %84 = icmp eq i64 %83, %81
  br i1 %84, label %114, label %85, !llvm.loop !19

85:                                               ; preds = %82, %80
  %86 = phi i64 [ 0, %80 ], [ %83, %82 ]
  %87 = getelementptr inbounds %struct.plan_tensor, ptr %74, i64 %86, i32 9
  %88 = load i64, ptr %87, align 8
  %89 = icmp slt i64 %88, 0
  br i1 %89, label %90, label %94

90:                                               ; preds = %85
  %91 = xor i64 %88, -1
  %92 = getelementptr inbounds i64, ptr %8, i64 %91
  %93 = load i64, ptr %92, align 8
  br label %94

94:                                               ; preds = %90, %85
  %95 = phi i64 [ %93, %90 ], [ %88, %85 ]
  %96 = getelementptr inbounds %struct.model_buffer, ptr %1, i64 %86, i32 1
  %97 = load i64, ptr %96, align 8
  %98 = icmp ult i64 %97, %95
  br i1 %98, label %162, label %99

99:                                               ; preds = %94
  %100 = getelementptr inbounds %struct.model_buffer, ptr %1, i64 %86
  %101 = icmp ne i64 %95, 0
  %102 = load ptr, ptr %100, align 8
  %103 = icmp eq ptr %102, null
  %104 = select i1 %101, i1 %103, i1 false
  br i1 %104, label %162, label %105

105:                                              ; preds = %99
  %106 = ptrtoint ptr %102 to i64
  %107 = getelementptr inbounds %struct.plan_tensor, ptr %74, i64 %86, i32 3
  %108 = load i32, ptr %107, align 4
  %109 = zext i32 %108 to i64
  %110 = urem i64 %106, %109
  %111 = icmp eq i64 %110, 0
  br i1 %111, label %82, label %162

112:                                              ; preds = %71
  %113 = or i1 %77, %76
  br i1 %113, label %114, label %162

114:                                              ; preds = %82, %112
  %115 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 5), align 4
  %116 = zext i32 %115 to i64
  %117 = getelementptr inbounds i8, ptr @model_plan, i64 %116
  %118 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %119 = icmp eq i32 %118, 0
  %120 = icmp ne ptr %2, null
  %121 = xor i1 %120, true
  %122 = or i1 %119, %121
  br i1 %122, label %155, label %123

123:                                              ; preds = %114
  %124 = zext i32 %118 to i64
  br label %128

125:                                              ; preds = %148
  %126 = add nuw nsw i64 %129, 1
  %127 = icmp eq i64 %126, %124
  br i1 %127, label %157, label %128, !llvm.loop !19

128:                                              ; preds = %125, %123
  %129 = phi i64 [ 0, %123 ], [ %126, %125 ]
  %130 = getelementptr inbounds %struct.plan_tensor, ptr %117, i64 %129, i32 9
  %131 = load i64, ptr %130, align 8
  %132 = icmp slt i64 %131, 0
  br i1 %132, label %133, label %137

133:                                              ; preds = %128
  %134 = xor i64 %131, -1
  %135 = getelementptr inbounds i64, ptr %8, i64 %134
  %136 = load i64, ptr %135, align 8
  br label %137

137:                                              ; preds = %133, %128
  %138 = phi i64 [ %136, %133 ], [ %131, %128 ]
  %139 = getelementptr inbounds %struct.model_buffer, ptr %2, i64 %129, i32 1
  %140 = load i64, ptr %139, align 8
  %141 = icmp ult i64 %140, %138
  br i1 %141, label %162, label %142

142:                                              ; preds = %137
  %143 = getelementptr inbounds %struct.model_buffer, ptr %2, i64 %129
  %144 = icmp ne i64 %138, 0
  %145 = load ptr, ptr %143, align 8
  %146 = icmp eq ptr %145, null
  %147 = select i1 %144, i1 %146, i1 false
  br i1 %147, label %162, label %148

148:                                              ; preds = %142
  %149 = ptrtoint ptr %145 to i64
  %150 = getelementptr inbounds %struct.plan_tensor, ptr %117, i64 %129, i32 3
  %151 = load i32, ptr %150, align 4
  %152 = zext i32 %151 to i64
  %153 = urem i64 %149, %152
  %154 = icmp eq i64 %153, 0
  br i1 %154, label %125, label %162

155:                                              ; preds = %114
  %156 = or i1 %120, %119
  br i1 %156, label %157, label %162

157:                                              ; preds = %125, %155
  %158 = tail call fastcc i32 @check_indices(ptr noundef %1, ptr noundef nonnull %8) #20
  %159 = icmp eq i32 %158, 0
  br i1 %159, label %160, label %162

160:                                              ; preds = %157
  %161 = call fastcc i32 @run_model(ptr noundef nonnull %6, ptr noundef nonnull %8, ptr noundef %4) #20
  br label %162

162:                                              ; preds = %99, %105, %94, %142, %148, %137, %68, %63, %52, %49, %45, %41, %39, %29, %27, %157, %155, %112, %5, %160
  %163 = phi i32 [ %161, %160 ], [ -8, %5 ], [ -1, %112 ], [ -1, %155 ], [ %158, %157 ], [ -9, %27 ], [ -9, %29 ], [ -9, %39 ], [ -9, %41 ], [ %66, %63 ], [ -4, %52 ], [ -3, %49 ], [ -1, %45 ], [ -4, %68 ], [ -2, %137 ], [ -3, %148 ], [ -1, %142 ], [ -2, %94 ], [ -3, %105 ], [ -1, %99 ]
  call void @llvm.lifetime.end.p0(i64 88, ptr nonnull %6) #18
  ret i32 %163
}

; Function Attrs: nofree norecurse nosync nounwind memory(read, inaccessiblemem: none)
define internal fastcc i32 @check_indices(ptr nocapture noundef readonly %0, ptr nocapture noundef readonly %1) unnamed_addr #12 {
  %3 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 16), align 4
  %4 = zext i32 %3 to i64
  %5 = getelementptr inbounds i8, ptr @model_plan, i64 %4
  %6 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 17), align 4
  %7 = zext i32 %6 to i64
  %8 = getelementptr inbounds %struct.plan_indices, ptr %5, i64 %7
  %9 = icmp eq i32 %6, 0
  br i1 %9, label %103, label %10

10:                                               ; preds = %2
  %11 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %12 = zext i32 %11 to i64
  %13 = getelementptr inbounds i8, ptr @model_plan, i64 %12
  br label %14

14:                                               ; preds = %10, %100
  %15 = phi ptr [ %5, %10 ], [ %101, %100 ]
  %16 = load i32, ptr %15, align 4
  %17 = zext i32 %16 to i64
  %18 = getelementptr inbounds %struct.plan_tensor, ptr %13, i64 %17
  %19 = getelementptr inbounds %struct.plan_indices, ptr %15, i64 0, i32 2
  %20 = load i32, ptr %19, align 4
  %21 = zext i32 %20 to i64
  %22 = getelementptr inbounds i8, ptr @model_plan, i64 %21
  %23 = getelementptr inbounds %struct.plan_tensor, ptr %13, i64 %17, i32 9
  %24 = load i64, ptr %23, align 8
  %25 = icmp slt i64 %24, 0
  br i1 %25, label %26, label %30

26:                                               ; preds = %14
  %27 = xor i64 %24, -1
  %28 = getelementptr inbounds i64, ptr %1, i64 %27
  %29 = load i64, ptr %28, align 8
  br label %30

30:                                               ; preds = %14, %26
  %31 = phi i64 [ %29, %26 ], [ %24, %14 ]
  %32 = getelementptr inbounds %struct.plan_tensor, ptr %13, i64 %17, i32 4
  %33 = load i32, ptr %32, align 8
  %34 = zext i32 %33 to i64
  %35 = sdiv i64 %31, %34
  %36 = getelementptr inbounds %struct.plan_indices, ptr %15, i64 0, i32 1
  %37 = load i32, ptr %36, align 4
  %38 = icmp eq i32 %37, 0
  br i1 %38, label %100, label %39

39:                                               ; preds = %30
  %40 = getelementptr inbounds %struct.model_buffer, ptr %0, i64 %17
  %41 = getelementptr inbounds %struct.plan_tensor, ptr %18, i64 0, i32 1
  %42 = zext i32 %37 to i64
  br label %43

43:                                               ; preds = %39, %97
  %44 = phi i64 [ 0, %39 ], [ %98, %97 ]
  %45 = getelementptr inbounds i64, ptr %22, i64 %44
  %46 = load i64, ptr %45, align 8
  %47 = icmp slt i64 %46, 0
  br i1 %47, label %48, label %52

48:                                               ; preds = %43
  %49 = xor i64 %46, -1
  %50 = getelementptr inbounds i64, ptr %1, i64 %49
  %51 = load i64, ptr %50, align 8
  br label %52

52:                                               ; preds = %43, %48
  %53 = phi i64 [ %51, %48 ], [ %46, %43 ]
  %54 = icmp sgt i64 %35, %44
  br i1 %54, label %55, label %97

55:                                               ; preds = %52
  %56 = load ptr, ptr %40, align 8
  %57 = load i32, ptr %41, align 4
  %58 = zext i32 %57 to i64
  %59 = getelementptr inbounds i8, ptr @model_plan, i64 %58
  %60 = load i8, ptr %59, align 1
  %61 = icmp eq i8 %60, 105
  %62 = sub nsw i64 0, %53
  br label %66

63:                                               ; preds = %92
  %64 = add nuw nsw i64 %67, %42
  %65 = icmp slt i64 %64, %35
  br i1 %65, label %66, label %97, !llvm.loop !20

66:                                               ; preds = %55, %63
  %67 = phi i64 [ %44, %55 ], [ %64, %63 ]
  switch i32 %33, label %89 [
    i32 1, label %68
    i32 2, label %75
    i32 4, label %82
  ]

68:                                               ; preds = %66
  %69 = getelementptr inbounds i8, ptr %56, i64 %67
  %70 = load i8, ptr %69, align 1
  br i1 %61, label %71, label %73

71:                                               ; preds = %68
  %72 = sext i8 %70 to i64
  br label %92

73:                                               ; preds = %68
  %74 = zext i8 %70 to i64
  br label %92

75:                                               ; preds = %66
  %76 = getelementptr inbounds i16, ptr %56, i64 %67
  %77 = load i16, ptr %76, align 2
  br i1 %61, label %78, label %80

78:                                               ; preds = %75
  %79 = sext i16 %77 to i64
  br label %92

80:                                               ; preds = %75
  %81 = zext i16 %77 to i64
  br label %92

82:                                               ; preds = %66
  %83 = getelementptr inbounds i32, ptr %56, i64 %67
  %84 = load i32, ptr %83, align 4
  br i1 %61, label %85, label %87

85:                                               ; preds = %82
  %86 = sext i32 %84 to i64
  br label %92

87:                                               ; preds = %82
  %88 = zext i32 %84 to i64
  br label %92

89:                                               ; preds = %66
  %90 = getelementptr inbounds i64, ptr %56, i64 %67
  %91 = load i64, ptr %90, align 8
  br label %92

92:                                               ; preds = %71, %73, %78, %80, %85, %87, %89
  %93 = phi i64 [ %91, %89 ], [ %72, %71 ], [ %74, %73 ], [ %79, %78 ], [ %81, %80 ], [ %86, %85 ], [ %88, %87 ]
  %94 = icmp sge i64 %93, %62
  %95 = icmp slt i64 %93, %53
  %96 = and i1 %94, %95
  br i1 %96, label %63, label %103

97:                                               ; preds = %63, %52
  %98 = add nuw nsw i64 %44, 1
  %99 = icmp eq i64 %98, %42
  br i1 %99, label %100, label %43, !llvm.loop !21

100:                                              ; preds = %97, %30
  %101 = getelementptr inbounds %struct.plan_indices, ptr %15, i64 1
  %102 = icmp ult ptr %101, %8
  br i1 %102, label %14, label %103, !llvm.loop !22

103:                                              ; preds = %100, %92, %2
  %104 = phi i32 [ 0, %2 ], [ -15, %92 ], [ 0, %100 ]
  ret i32 %104
}

; Function Attrs: nounwind
define internal fastcc i32 @run_model(ptr nocapture noundef %0, ptr noundef %1, ptr noundef %2) unnamed_addr #0 {
  %4 = load ptr, ptr %0, align 8
  %5 = getelementptr inbounds %struct.plan_code, ptr %4, i64 0, i32 6
  %6 = load i32, ptr %5, align 8
  %7 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 3
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds %struct.plan_code, ptr %4, i64 0, i32 10
  %10 = load i64, ptr %9, align 8
  %11 = icmp slt i64 %10, 0
  br i1 %11, label %12, label %16

12:                                               ; preds = %3
  %13 = xor i64 %10, -1
  %14 = getelementptr inbounds i64, ptr %8, i64 %13
  %15 = load i64, ptr %14, align 8
  br label %16

16:                                               ; preds = %3, %12
  %17 = phi i64 [ %15, %12 ], [ %10, %3 ]
  %18 = icmp sgt i64 %17, 9223372036854775743
  br i1 %18, label %23, label %19

19:                                               ; preds = %16
  %20 = add nsw i64 %17, 63
  %21 = sdiv i64 %20, 64
  %22 = shl nsw i64 %21, 6
  br label %23

23:                                               ; preds = %16, %19
  %24 = phi i64 [ %22, %19 ], [ 9223372036854775807, %16 ]
  %25 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 7), align 4
  %26 = zext i32 %25 to i64
  %27 = getelementptr inbounds %struct.plan_code, ptr %4, i64 0, i32 14
  %28 = load i32, ptr %27, align 4
  %29 = zext i32 %28 to i64
  %30 = add nuw nsw i64 %29, %26
  %31 = shl nuw nsw i64 %30, 3
  %32 = add nuw nsw i64 %31, 63
  %33 = and i64 %32, 137438953408
  %34 = getelementptr inbounds i8, ptr %1, i64 %33
  %35 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 6
  store ptr %34, ptr %35, align 8
  %36 = zext i32 %6 to i64
  %37 = mul nuw nsw i64 %36, 48
  %38 = add nuw nsw i64 %37, 63
  %39 = and i64 %38, 549755813824
  %40 = getelementptr inbounds i8, ptr %34, i64 %39
  %41 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 7
  store ptr %40, ptr %41, align 8
  %42 = shl nuw nsw i64 %36, 4
  %43 = add nuw nsw i64 %42, 63
  %44 = and i64 %43, 137438953408
  %45 = getelementptr inbounds i8, ptr %40, i64 %44
  %46 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 8
  store ptr %45, ptr %46, align 8
  %47 = icmp eq ptr %2, null
  br i1 %47, label %54, label %48

48:                                               ; preds = %23
  %49 = load i32, ptr %2, align 8
  %50 = zext i32 %49 to i64
  %51 = mul nuw nsw i64 %50, 48
  %52 = add nuw nsw i64 %51, 111
  %53 = and i64 %52, 549755813824
  br label %54

54:                                               ; preds = %23, %48
  %55 = phi i64 [ %53, %48 ], [ 128, %23 ]
  %56 = getelementptr inbounds i8, ptr %45, i64 %55
  %57 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 13), align 4
  %58 = icmp eq i32 %57, 0
  %59 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %60 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %61 = add i32 %60, %59
  %62 = select i1 %58, i32 0, i32 %61
  %63 = zext i32 %62 to i64
  %64 = shl nuw nsw i64 %63, 4
  %65 = add nuw nsw i64 %64, 63
  %66 = and i64 %65, 137438953408
  %67 = getelementptr inbounds i8, ptr %56, i64 %66
  %68 = tail call fastcc i64 @copies_bytes(ptr noundef %8) #20
  %69 = getelementptr inbounds i8, ptr %67, i64 %68
  %70 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 4
  store ptr %69, ptr %70, align 8
  %71 = getelementptr inbounds %struct.plan_code, ptr %4, i64 0, i32 8
  %72 = load i64, ptr %71, align 8
  %73 = icmp slt i64 %72, 0
  br i1 %73, label %74, label %78

74:                                               ; preds = %54
  %75 = xor i64 %72, -1
  %76 = getelementptr inbounds i64, ptr %8, i64 %75
  %77 = load i64, ptr %76, align 8
  br label %78

78:                                               ; preds = %54, %74
  %79 = phi i64 [ %77, %74 ], [ %72, %54 ]
  %80 = icmp sgt i64 %79, 9223372036854775743
  br i1 %80, label %85, label %81

81:                                               ; preds = %78
  %82 = add nsw i64 %79, 63
  %83 = sdiv i64 %82, 64
  %84 = shl nsw i64 %83, 6
  br label %85

85:                                               ; preds = %78, %81
  %86 = phi i64 [ %84, %81 ], [ 9223372036854775807, %78 ]
  %87 = getelementptr inbounds i8, ptr %69, i64 %86
  %88 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 5
  store ptr %87, ptr %88, align 8
  %89 = getelementptr inbounds %struct.plan_code, ptr %4, i64 0, i32 9
  %90 = load i64, ptr %89, align 8
  %91 = icmp slt i64 %90, 0
  br i1 %91, label %92, label %96

92:                                               ; preds = %85
  %93 = xor i64 %90, -1
  %94 = getelementptr inbounds i64, ptr %8, i64 %93
  %95 = load i64, ptr %94, align 8
  br label %96

96:                                               ; preds = %85, %92
  %97 = phi i64 [ %95, %92 ], [ %90, %85 ]
  %98 = icmp sgt i64 %97, 9223372036854775743
  br i1 %98, label %103, label %99

99:                                               ; preds = %96
  %100 = add nsw i64 %97, 63
  %101 = sdiv i64 %100, 64
  %102 = shl nsw i64 %101, 6
  br label %103

103:                                              ; preds = %96, %99
  %104 = phi i64 [ %102, %99 ], [ 9223372036854775807, %96 ]
  %105 = getelementptr inbounds i8, ptr %87, i64 %104
  %106 = getelementptr inbounds %struct.context, ptr %45, i64 1
  store ptr %87, ptr %45, align 8
  %107 = getelementptr inbounds i8, ptr %45, i64 8
  store ptr %105, ptr %107, align 8
  %108 = getelementptr inbounds i8, ptr %45, i64 16
  store ptr %105, ptr %108, align 8
  %109 = getelementptr inbounds i8, ptr %45, i64 24
  store ptr %106, ptr %109, align 8
  %110 = getelementptr inbounds i8, ptr %45, i64 32
  store i64 %24, ptr %110, align 8
  %111 = getelementptr inbounds i8, ptr %45, i64 40
  store ptr %2, ptr %111, align 8
  %112 = icmp eq i32 %6, 0
  br i1 %112, label %113, label %316

113:                                              ; preds = %316, %103
  %114 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %115 = load ptr, ptr %114, align 8
  %116 = load ptr, ptr %46, align 8
  store ptr %116, ptr %114, align 8
  %117 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 1
  %118 = load ptr, ptr %117, align 8
  %119 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 2
  %120 = load ptr, ptr %119, align 8
  br i1 %58, label %121, label %123

121:                                              ; preds = %113
  %122 = tail call fastcc i32 @run_steps(ptr noundef nonnull %0) #20
  br label %314

123:                                              ; preds = %113
  store ptr %56, ptr %117, align 8
  %124 = zext i32 %59 to i64
  %125 = getelementptr inbounds %struct.model_buffer, ptr %56, i64 %124
  store ptr %125, ptr %119, align 8
  %126 = add i32 %57, -1
  %127 = zext i32 %126 to i64
  %128 = load ptr, ptr %7, align 8
  %129 = getelementptr inbounds i64, ptr %128, i64 %127
  %130 = load i64, ptr %129, align 8
  %131 = icmp sgt i64 %130, 0
  br i1 %131, label %132, label %314

132:                                              ; preds = %123
  %133 = icmp eq i32 %61, 0
  %134 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %135 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 5), align 4
  %136 = zext i32 %61 to i64
  br label %137

137:                                              ; preds = %142, %132
  %138 = phi i64 [ 0, %132 ], [ %143, %142 ]
  br label %139

139:                                              ; preds = %311, %137
  %140 = phi i1 [ true, %137 ], [ false, %311 ]
  %141 = phi i32 [ 0, %137 ], [ 1, %311 ]
  br i1 %133, label %148, label %149

142:                                              ; preds = %148
  %143 = add nuw nsw i64 %138, 1
  %144 = load ptr, ptr %7, align 8
  %145 = getelementptr inbounds i64, ptr %144, i64 %127
  %146 = load i64, ptr %145, align 8
  %147 = icmp slt i64 %143, %146
  br i1 %147, label %137, label %314, !llvm.loop !23

148:                                              ; preds = %307, %139
  br i1 %140, label %311, label %142

149:                                              ; preds = %139, %307
  %150 = phi i64 [ %309, %307 ], [ 0, %139 ]
  %151 = phi ptr [ %308, %307 ], [ %67, %139 ]
  %152 = icmp ult i64 %150, %124
  %153 = select i1 %152, i32 0, i32 %59
  %154 = trunc i64 %150 to i32
  %155 = sub i32 %154, %153
  %156 = select i1 %152, i32 %134, i32 %135
  %157 = zext i32 %156 to i64
  %158 = getelementptr inbounds i8, ptr @model_plan, i64 %157
  %159 = zext i32 %155 to i64
  %160 = getelementptr inbounds %struct.plan_tensor, ptr %158, i64 %159
  %161 = zext i1 %152 to i32
  %162 = load ptr, ptr %7, align 8
  %163 = getelementptr inbounds %struct.plan_tensor, ptr %160, i64 0, i32 5
  %164 = load i32, ptr %163, align 4
  switch i32 %164, label %165 [
    i32 0, label %208
    i32 1, label %185
  ]

165:                                              ; preds = %149
  %166 = add i32 %164, -1
  %167 = zext i32 %166 to i64
  br label %168

168:                                              ; preds = %179, %165
  %169 = phi i64 [ 0, %165 ], [ %171, %179 ]
  %170 = phi i64 [ 1, %165 ], [ %181, %179 ]
  %171 = add nuw nsw i64 %169, 1
  %172 = getelementptr inbounds %struct.plan_tensor, ptr %160, i64 0, i32 8, i64 %169
  %173 = load i64, ptr %172, align 8
  %174 = icmp slt i64 %173, 0
  br i1 %174, label %175, label %179

175:                                              ; preds = %168
  %176 = xor i64 %173, -1
  %177 = getelementptr inbounds i64, ptr %162, i64 %176
  %178 = load i64, ptr %177, align 8
  br label %179

179:                                              ; preds = %175, %168
  %180 = phi i64 [ %178, %175 ], [ %173, %168 ]
  %181 = mul nsw i64 %180, %170
  %182 = icmp eq i64 %171, %167
  br i1 %182, label %183, label %168, !llvm.loop !24

183:                                              ; preds = %179
  %184 = icmp eq i64 %181, 1
  br i1 %184, label %185, label %208

185:                                              ; preds = %183, %149
  %186 = getelementptr inbounds i64, ptr %162, i64 %127
  %187 = load i64, ptr %186, align 8
  %188 = icmp eq i64 %187, 0
  br i1 %188, label %200, label %189

189:                                              ; preds = %185
  %190 = getelementptr inbounds %struct.plan_tensor, ptr %160, i64 0, i32 9
  %191 = load i64, ptr %190, align 8
  %192 = icmp slt i64 %191, 0
  br i1 %192, label %193, label %197

193:                                              ; preds = %189
  %194 = xor i64 %191, -1
  %195 = getelementptr inbounds i64, ptr %162, i64 %194
  %196 = load i64, ptr %195, align 8
  br label %197

197:                                              ; preds = %193, %189
  %198 = phi i64 [ %196, %193 ], [ %191, %189 ]
  %199 = sdiv i64 %198, %187
  br label %200

200:                                              ; preds = %197, %185
  %201 = phi i64 [ %199, %197 ], [ 0, %185 ]
  %202 = getelementptr inbounds %struct.plan_tensor, ptr %160, i64 0, i32 3
  %203 = load i32, ptr %202, align 4
  %204 = zext i32 %203 to i64
  %205 = srem i64 %201, %204
  %206 = icmp ne i64 %205, 0
  %207 = zext i1 %206 to i32
  br label %208

208:                                              ; preds = %200, %183, %149
  %209 = phi i32 [ %164, %149 ], [ 1, %183 ], [ %207, %200 ]
  %210 = getelementptr inbounds %struct.model_buffer, ptr %118, i64 %150
  %211 = sub i32 %154, %59
  %212 = zext i32 %211 to i64
  %213 = getelementptr inbounds %struct.model_buffer, ptr %120, i64 %212
  %214 = select i1 %152, ptr %210, ptr %213
  %215 = load ptr, ptr %214, align 8
  %216 = getelementptr inbounds i64, ptr %162, i64 %127
  %217 = load i64, ptr %216, align 8
  %218 = icmp eq i64 %217, 0
  br i1 %218, label %230, label %219

219:                                              ; preds = %208
  %220 = getelementptr inbounds %struct.plan_tensor, ptr %160, i64 0, i32 9
  %221 = load i64, ptr %220, align 8
  %222 = icmp slt i64 %221, 0
  br i1 %222, label %223, label %227

223:                                              ; preds = %219
  %224 = xor i64 %221, -1
  %225 = getelementptr inbounds i64, ptr %162, i64 %224
  %226 = load i64, ptr %225, align 8
  br label %227

227:                                              ; preds = %223, %219
  %228 = phi i64 [ %226, %223 ], [ %221, %219 ]
  %229 = sdiv i64 %228, %217
  br label %230

230:                                              ; preds = %227, %208
  %231 = phi i64 [ %229, %227 ], [ 0, %208 ]
  %232 = icmp eq i32 %209, 0
  %233 = icmp eq i32 %141, %161
  %234 = select i1 %232, i1 true, i1 %233
  br i1 %234, label %287, label %235

235:                                              ; preds = %230
  %236 = icmp ugt i32 %164, 1
  br i1 %236, label %237, label %257

237:                                              ; preds = %235
  %238 = add i32 %164, -1
  %239 = zext i32 %238 to i64
  br label %240

240:                                              ; preds = %251, %237
  %241 = phi i64 [ 0, %237 ], [ %243, %251 ]
  %242 = phi i64 [ 1, %237 ], [ %253, %251 ]
  %243 = add nuw nsw i64 %241, 1
  %244 = getelementptr inbounds %struct.plan_tensor, ptr %160, i64 0, i32 8, i64 %241
  %245 = load i64, ptr %244, align 8
  %246 = icmp slt i64 %245, 0
  br i1 %246, label %247, label %251

247:                                              ; preds = %240
  %248 = xor i64 %245, -1
  %249 = getelementptr inbounds i64, ptr %162, i64 %248
  %250 = load i64, ptr %249, align 8
  br label %251

251:                                              ; preds = %247, %240
  %252 = phi i64 [ %250, %247 ], [ %245, %240 ]
  %253 = mul nsw i64 %252, %242
  %254 = icmp eq i64 %243, %239
  br i1 %254, label %255, label %240, !llvm.loop !24

255:                                              ; preds = %251
  %256 = icmp eq i64 %253, 0
  br i1 %256, label %287, label %257

257:                                              ; preds = %255, %235
  %258 = phi i64 [ %253, %255 ], [ 1, %235 ]
  br i1 %218, label %270, label %259

259:                                              ; preds = %257
  %260 = getelementptr inbounds %struct.plan_tensor, ptr %160, i64 0, i32 9
  %261 = load i64, ptr %260, align 8
  %262 = icmp slt i64 %261, 0
  br i1 %262, label %263, label %267

263:                                              ; preds = %259
  %264 = xor i64 %261, -1
  %265 = getelementptr inbounds i64, ptr %162, i64 %264
  %266 = load i64, ptr %265, align 8
  br label %267

267:                                              ; preds = %263, %259
  %268 = phi i64 [ %266, %263 ], [ %261, %259 ]
  %269 = sdiv i64 %268, %217
  br label %270

270:                                              ; preds = %267, %257
  %271 = phi i64 [ %269, %267 ], [ 0, %257 ]
  %272 = sdiv i64 %271, %258
  %273 = icmp sgt i64 %258, 0
  br i1 %273, label %274, label %287

274:                                              ; preds = %270, %274
  %275 = phi ptr [ %285, %274 ], [ %151, %270 ]
  %276 = phi i64 [ %284, %274 ], [ 0, %270 ]
  %277 = load i64, ptr %216, align 8
  %278 = mul nsw i64 %277, %276
  %279 = add nsw i64 %278, %138
  %280 = mul nsw i64 %279, %272
  %281 = getelementptr inbounds i8, ptr %215, i64 %280
  %282 = select i1 %152, ptr %275, ptr %281
  %283 = select i1 %152, ptr %281, ptr %275
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %282, ptr align 1 %283, i64 %272, i1 false)
  %284 = add nuw nsw i64 %276, 1
  %285 = getelementptr inbounds i8, ptr %275, i64 %272
  %286 = icmp eq i64 %284, %258
  br i1 %286, label %287, label %274, !llvm.loop !25

287:                                              ; preds = %274, %270, %255, %230
  br i1 %140, label %288, label %297

288:                                              ; preds = %287
  br i1 %232, label %289, label %294

289:                                              ; preds = %288
  %290 = icmp eq i32 %164, 0
  br i1 %290, label %294, label %291

291:                                              ; preds = %289
  %292 = mul nsw i64 %231, %138
  %293 = getelementptr inbounds i8, ptr %215, i64 %292
  br label %294

294:                                              ; preds = %291, %289, %288
  %295 = phi ptr [ %293, %291 ], [ %151, %288 ], [ %215, %289 ]
  %296 = getelementptr inbounds %struct.model_buffer, ptr %56, i64 %150
  store ptr %295, ptr %296, align 8
  br label %297

297:                                              ; preds = %294, %287
  br i1 %232, label %307, label %298

298:                                              ; preds = %297
  %299 = icmp sgt i64 %231, 9223372036854775743
  br i1 %299, label %304, label %300

300:                                              ; preds = %298
  %301 = add nsw i64 %231, 63
  %302 = sdiv i64 %301, 64
  %303 = shl nsw i64 %302, 6
  br label %304

304:                                              ; preds = %300, %298
  %305 = phi i64 [ %303, %300 ], [ 9223372036854775807, %298 ]
  %306 = getelementptr inbounds i8, ptr %151, i64 %305
  br label %307

307:                                              ; preds = %304, %297
  %308 = phi ptr [ %306, %304 ], [ %151, %297 ]
  %309 = add nuw nsw i64 %150, 1
  %310 = icmp eq i64 %309, %136
  br i1 %310, label %148, label %149, !llvm.loop !26

311:                                              ; preds = %148
  %312 = tail call fastcc i32 @run_steps(ptr noundef nonnull %0) #20
  %313 = icmp eq i32 %312, 0
  br i1 %313, label %139, label %314, !llvm.loop !27

314:                                              ; preds = %142, %311, %121, %123
  %315 = phi i32 [ %122, %121 ], [ 0, %123 ], [ %312, %311 ], [ 0, %142 ]
  store ptr %115, ptr %114, align 8
  ret i32 %315

316:                                              ; preds = %103, %316
  %317 = phi i64 [ %324, %316 ], [ 0, %103 ]
  %318 = load ptr, ptr %35, align 8
  %319 = getelementptr inbounds %struct.tensor, ptr %318, i64 %317
  store ptr null, ptr %319, align 8
  %320 = getelementptr inbounds i8, ptr %319, i64 8
  store i32 1, ptr %320, align 8
  %321 = getelementptr inbounds i8, ptr %319, i64 12
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(10) %321, i8 0, i64 10, i1 false)
  %322 = getelementptr inbounds i8, ptr %319, i64 22
  store i16 1, ptr %322, align 2
  %323 = getelementptr inbounds i8, ptr %319, i64 24
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(24) %323, i8 0, i64 24, i1 false)
  %324 = add nuw nsw i64 %317, 1
  %325 = icmp eq i64 %324, %36
  br i1 %325, label %113, label %316, !llvm.loop !28
}

; Function Attrs: nofree nounwind memory(readwrite, inaccessiblemem: none)
define i64 @model_selftest_bytes() local_unnamed_addr #10 {
  %1 = alloca [2048 x i64], align 8
  %2 = load atomic i32, ptr @chosen acquire, align 4
  %3 = icmp eq i32 %2, 0
  %4 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %5 = zext i32 %4 to i64
  %6 = getelementptr inbounds i8, ptr @model_plan, i64 %5
  %7 = add i32 %2, -1
  %8 = zext i32 %7 to i64
  %9 = getelementptr inbounds %struct.plan_code, ptr %6, i64 %8
  %10 = select i1 %3, ptr null, ptr %9
  call void @llvm.lifetime.start.p0(i64 16384, ptr nonnull %1) #18
  br i1 %3, label %69, label %11

11:                                               ; preds = %0
  %12 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 18), align 4
  %13 = zext i32 %12 to i64
  %14 = getelementptr inbounds i8, ptr @model_plan, i64 %13
  %15 = getelementptr inbounds %struct.plan_code, ptr %10, i64 0, i32 13
  %16 = load i32, ptr %15, align 8
  %17 = getelementptr inbounds %struct.plan_code, ptr %10, i64 0, i32 14
  %18 = load i32, ptr %17, align 4
  %19 = call fastcc i32 @fill_numbers(ptr noundef nonnull %14, i32 noundef %16, i32 noundef %18, ptr noundef nonnull %1) #20
  %20 = icmp eq i32 %19, 0
  br i1 %20, label %23, label %21

21:                                               ; preds = %11
  %22 = sext i32 %19 to i64
  br label %69

23:                                               ; preds = %11
  %24 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %25 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %26 = add i32 %25, %24
  %27 = zext i32 %26 to i64
  %28 = shl nuw nsw i64 %27, 4
  %29 = add nuw nsw i64 %28, 63
  %30 = and i64 %29, 137438953408
  %31 = icmp eq i32 %26, 0
  br i1 %31, label %65, label %32

32:                                               ; preds = %23
  %33 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %34 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 5), align 4
  br label %35

35:                                               ; preds = %60, %32
  %36 = phi i32 [ 0, %32 ], [ %63, %60 ]
  %37 = phi i64 [ %30, %32 ], [ %62, %60 ]
  %38 = icmp ult i32 %36, %24
  %39 = select i1 %38, i32 0, i32 %24
  %40 = sub i32 %36, %39
  %41 = select i1 %38, i32 %33, i32 %34
  %42 = zext i32 %41 to i64
  %43 = getelementptr inbounds i8, ptr @model_plan, i64 %42
  %44 = zext i32 %40 to i64
  %45 = getelementptr inbounds %struct.plan_tensor, ptr %43, i64 %44
  %46 = getelementptr inbounds %struct.plan_tensor, ptr %45, i64 0, i32 9
  %47 = load i64, ptr %46, align 8
  %48 = icmp slt i64 %47, 0
  br i1 %48, label %49, label %53

49:                                               ; preds = %35
  %50 = xor i64 %47, -1
  %51 = getelementptr inbounds i64, ptr %1, i64 %50
  %52 = load i64, ptr %51, align 8
  br label %53

53:                                               ; preds = %49, %35
  %54 = phi i64 [ %52, %49 ], [ %47, %35 ]
  %55 = icmp sgt i64 %54, 9223372036854775743
  br i1 %55, label %60, label %56

56:                                               ; preds = %53
  %57 = add nsw i64 %54, 63
  %58 = sdiv i64 %57, 64
  %59 = shl nsw i64 %58, 6
  br label %60

60:                                               ; preds = %56, %53
  %61 = phi i64 [ %59, %56 ], [ 9223372036854775807, %53 ]
  %62 = add nsw i64 %61, %37
  %63 = add nuw i32 %36, 1
  %64 = icmp eq i32 %63, %26
  br i1 %64, label %65, label %35, !llvm.loop !29

65:                                               ; preds = %60, %23
  %66 = phi i64 [ %30, %23 ], [ %62, %60 ]
  %67 = call fastcc i64 @workspace_bytes(ptr noundef nonnull %10, ptr noundef nonnull %1, i32 noundef 1) #20
  %68 = add nsw i64 %67, %66
  br label %69

69:                                               ; preds = %21, %65, %0
  %70 = phi i64 [ -8, %0 ], [ %22, %21 ], [ %68, %65 ]
  call void @llvm.lifetime.end.p0(i64 16384, ptr nonnull %1) #18
  ret i64 %70
}

; Function Attrs: nounwind
define i32 @model_selftest([2 x i64] %0, ptr noundef writeonly %1) local_unnamed_addr #0 {
  %3 = alloca %struct.run, align 8
  %4 = extractvalue [2 x i64] %0, 0
  %5 = inttoptr i64 %4 to ptr
  %6 = extractvalue [2 x i64] %0, 1
  %7 = load atomic i32, ptr @chosen acquire, align 4
  %8 = icmp eq i32 %7, 0
  %9 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %10 = zext i32 %9 to i64
  %11 = getelementptr inbounds i8, ptr @model_plan, i64 %10
  %12 = add i32 %7, -1
  %13 = zext i32 %12 to i64
  %14 = getelementptr inbounds %struct.plan_code, ptr %11, i64 %13
  %15 = select i1 %8, ptr null, ptr %14
  br i1 %8, label %93, label %16

16:                                               ; preds = %2
  %17 = icmp eq i64 %4, 0
  br i1 %17, label %93, label %18

18:                                               ; preds = %16
  %19 = and i64 %4, 63
  %20 = icmp eq i64 %19, 0
  br i1 %20, label %21, label %93

21:                                               ; preds = %18
  %22 = tail call i64 @model_selftest_bytes() #20
  %23 = icmp ult i64 %6, %22
  br i1 %23, label %93, label %24

24:                                               ; preds = %21
  %25 = getelementptr inbounds %struct.plan_code, ptr %15, i64 0, i32 12
  %26 = load i32, ptr %25, align 4
  %27 = icmp eq i32 %26, 0
  br i1 %27, label %93, label %28

28:                                               ; preds = %24
  %29 = getelementptr inbounds %struct.plan_code, ptr %15, i64 0, i32 11
  %30 = load i32, ptr %29, align 8
  %31 = zext i32 %30 to i64
  %32 = getelementptr inbounds i8, ptr @model_plan, i64 %31
  call void @llvm.lifetime.start.p0(i64 88, ptr nonnull %3) #18
  store ptr %15, ptr %3, align 8
  %33 = getelementptr inbounds %struct.run, ptr %3, i64 0, i32 1
  %34 = getelementptr inbounds %struct.run, ptr %3, i64 0, i32 2
  %35 = getelementptr inbounds %struct.run, ptr %3, i64 0, i32 4
  store <2 x ptr> zeroinitializer, ptr %35, align 8
  %36 = getelementptr inbounds %struct.run, ptr %3, i64 0, i32 6
  store <2 x ptr> zeroinitializer, ptr %36, align 8
  %37 = getelementptr inbounds %struct.run, ptr %3, i64 0, i32 8
  store ptr null, ptr %37, align 8
  %38 = getelementptr inbounds %struct.run, ptr %3, i64 0, i32 9
  store ptr %32, ptr %38, align 8
  %39 = getelementptr inbounds %struct.run, ptr %3, i64 0, i32 10
  %40 = zext i32 %26 to i64
  %41 = getelementptr inbounds %struct.plan_golden, ptr %32, i64 %40
  store ptr %41, ptr %39, align 8
  %42 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 7), align 4
  %43 = zext i32 %42 to i64
  %44 = getelementptr inbounds %struct.plan_code, ptr %15, i64 0, i32 14
  %45 = load i32, ptr %44, align 4
  %46 = zext i32 %45 to i64
  %47 = add nuw nsw i64 %46, %43
  %48 = shl nuw nsw i64 %47, 3
  %49 = add nuw nsw i64 %48, 63
  %50 = and i64 %49, 137438953408
  %51 = icmp ult i64 %6, %50
  br i1 %51, label %91, label %52

52:                                               ; preds = %28
  %53 = getelementptr inbounds %struct.run, ptr %3, i64 0, i32 3
  %54 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 18), align 4
  %55 = zext i32 %54 to i64
  %56 = getelementptr inbounds i8, ptr @model_plan, i64 %55
  store ptr %5, ptr %53, align 8
  %57 = getelementptr inbounds %struct.plan_code, ptr %15, i64 0, i32 13
  %58 = load i32, ptr %57, align 8
  %59 = tail call fastcc i32 @fill_numbers(ptr noundef nonnull %56, i32 noundef %58, i32 noundef %45, ptr noundef nonnull %5) #20
  %60 = icmp eq i32 %59, 0
  br i1 %60, label %61, label %91

61:                                               ; preds = %52
  %62 = tail call fastcc i64 @workspace_bytes(ptr noundef nonnull %15, ptr noundef nonnull %5, i32 noundef 1) #20
  %63 = icmp ult i64 %6, %62
  br i1 %63, label %91, label %64

64:                                               ; preds = %61
  %65 = tail call fastcc i64 @workspace_bytes(ptr noundef nonnull %15, ptr noundef nonnull %5, i32 noundef 1) #20
  %66 = getelementptr inbounds i8, ptr %5, i64 %65
  %67 = tail call fastcc ptr @place_tensors(ptr noundef nonnull %66, ptr noundef nonnull %5) #20
  store ptr %66, ptr %33, align 8
  %68 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %69 = zext i32 %68 to i64
  %70 = getelementptr inbounds %struct.model_buffer, ptr %66, i64 %69
  store ptr %70, ptr %34, align 8
  %71 = call fastcc i32 @run_model(ptr noundef nonnull %3, ptr noundef nonnull %5, ptr noundef null) #20
  %72 = icmp eq ptr %1, null
  br i1 %72, label %91, label %73

73:                                               ; preds = %64
  %74 = load i32, ptr %25, align 4
  %75 = load ptr, ptr %38, align 8
  %76 = ptrtoint ptr %75 to i64
  %77 = ptrtoint ptr %32 to i64
  %78 = sub i64 %76, %77
  %79 = lshr exact i64 %78, 5
  %80 = trunc i64 %79 to i32
  %81 = icmp eq i32 %71, -13
  br i1 %81, label %82, label %87

82:                                               ; preds = %73
  %83 = getelementptr inbounds %struct.plan_golden, ptr %75, i64 0, i32 2
  %84 = load i32, ptr %83, align 8
  %85 = zext i32 %84 to i64
  %86 = getelementptr inbounds i8, ptr @model_plan, i64 %85
  br label %87

87:                                               ; preds = %73, %82
  %88 = phi ptr [ %86, %82 ], [ null, %73 ]
  store i32 %74, ptr %1, align 8
  %89 = getelementptr inbounds i8, ptr %1, i64 4
  store i32 %80, ptr %89, align 4
  %90 = getelementptr inbounds i8, ptr %1, i64 8
  store ptr %88, ptr %90, align 8
  br label %91

91:                                               ; preds = %61, %52, %28, %64, %87
  %92 = phi i32 [ %71, %87 ], [ %71, %64 ], [ %59, %52 ], [ -4, %28 ], [ -4, %61 ]
  call void @llvm.lifetime.end.p0(i64 88, ptr nonnull %3) #18
  br label %93

93:                                               ; preds = %24, %21, %18, %16, %2, %91
  %94 = phi i32 [ %92, %91 ], [ -8, %2 ], [ -1, %16 ], [ -3, %18 ], [ -4, %21 ], [ -14, %24 ]
  ret i32 %94
}

; Function Attrs: nofree norecurse nosync nounwind memory(write, argmem: readwrite, inaccessiblemem: none)
define internal fastcc ptr @place_tensors(ptr noundef returned %0, ptr nocapture noundef readonly %1) unnamed_addr #13 {
  %3 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %4 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %5 = add i32 %4, %3
  %6 = icmp eq i32 %5, 0
  br i1 %6, label %16, label %7

7:                                                ; preds = %2
  %8 = zext i32 %5 to i64
  %9 = shl nuw nsw i64 %8, 4
  %10 = add nuw nsw i64 %9, 63
  %11 = and i64 %10, 137438953408
  %12 = getelementptr inbounds i8, ptr %0, i64 %11
  %13 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %14 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 5), align 4
  %15 = zext i32 %3 to i64
  br label %17

16:                                               ; preds = %127, %2
  ret ptr %0

17:                                               ; preds = %7, %127
  %18 = phi i64 [ 0, %7 ], [ %130, %127 ]
  %19 = phi ptr [ %12, %7 ], [ %129, %127 ]
  %20 = icmp ult i64 %18, %15
  %21 = select i1 %20, i32 0, i32 %3
  %22 = trunc i64 %18 to i32
  %23 = sub i32 %22, %21
  %24 = select i1 %20, i32 %13, i32 %14
  %25 = zext i32 %24 to i64
  %26 = getelementptr inbounds i8, ptr @model_plan, i64 %25
  %27 = zext i32 %23 to i64
  %28 = getelementptr inbounds %struct.plan_tensor, ptr %26, i64 %27
  %29 = getelementptr inbounds %struct.plan_tensor, ptr %28, i64 0, i32 9
  %30 = load i64, ptr %29, align 8
  %31 = icmp slt i64 %30, 0
  br i1 %31, label %32, label %36

32:                                               ; preds = %17
  %33 = xor i64 %30, -1
  %34 = getelementptr inbounds i64, ptr %1, i64 %33
  %35 = load i64, ptr %34, align 8
  br label %36

36:                                               ; preds = %17, %32
  %37 = phi i64 [ %35, %32 ], [ %30, %17 ]
  %38 = getelementptr inbounds %struct.model_buffer, ptr %0, i64 %18
  store ptr %19, ptr %38, align 8
  %39 = getelementptr inbounds i8, ptr %38, i64 8
  store i64 %37, ptr %39, align 8
  br i1 %20, label %40, label %121

40:                                               ; preds = %36
  %41 = getelementptr inbounds %struct.plan_tensor, ptr %28, i64 0, i32 4
  %42 = load i32, ptr %41, align 8
  %43 = zext i32 %42 to i64
  %44 = sdiv i64 %37, %43
  %45 = getelementptr inbounds %struct.plan_tensor, ptr %28, i64 0, i32 1
  %46 = load i32, ptr %45, align 4
  %47 = zext i32 %46 to i64
  %48 = getelementptr inbounds i8, ptr @model_plan, i64 %47
  %49 = getelementptr inbounds %struct.plan_tensor, ptr %28, i64 0, i32 6
  %50 = load double, ptr %49, align 8
  %51 = fcmp une double %50, 0.000000e+00
  %52 = select i1 %51, double %50, double 1.562500e-02
  %53 = icmp sgt i64 %44, 0
  br i1 %53, label %54, label %121

54:                                               ; preds = %40
  %55 = shl nuw i64 %18, 32
  %56 = load i8, ptr %48, align 1
  %57 = icmp eq i8 %56, 0
  br label %58

58:                                               ; preds = %118, %54
  %59 = phi i64 [ 0, %54 ], [ %119, %118 ]
  %60 = add i64 %59, %55
  %61 = mul i64 %60, -7046029254386353131
  %62 = add i64 %61, -7046029254386353131
  %63 = lshr i64 %62, 29
  %64 = xor i64 %63, %62
  %65 = mul i64 %64, -4658895280553007687
  %66 = lshr i64 %65, 56
  br i1 %57, label %78, label %67

67:                                               ; preds = %58, %73
  %68 = phi i8 [ %76, %73 ], [ %56, %58 ]
  %69 = phi ptr [ %75, %73 ], [ @.str.18, %58 ]
  %70 = phi ptr [ %74, %73 ], [ %48, %58 ]
  %71 = load i8, ptr %69, align 1
  %72 = icmp eq i8 %68, %71
  br i1 %72, label %73, label %78

73:                                               ; preds = %67
  %74 = getelementptr inbounds i8, ptr %70, i64 1
  %75 = getelementptr inbounds i8, ptr %69, i64 1
  %76 = load i8, ptr %74, align 1
  %77 = icmp eq i8 %76, 0
  br i1 %77, label %78, label %67, !llvm.loop !6

78:                                               ; preds = %73, %67, %58
  %79 = phi ptr [ @.str.18, %58 ], [ %75, %73 ], [ %69, %67 ]
  %80 = phi i8 [ 0, %58 ], [ 0, %73 ], [ %68, %67 ]
  %81 = load i8, ptr %79, align 1
  %82 = icmp eq i8 %80, %81
  br i1 %82, label %83, label %89

83:                                               ; preds = %78
  %84 = uitofp i64 %66 to double
  %85 = fadd double %84, -1.280000e+02
  %86 = fmul double %52, %85
  %87 = fptrunc double %86 to float
  %88 = getelementptr inbounds float, ptr %19, i64 %59
  store float %87, ptr %88, align 4
  br label %118

89:                                               ; preds = %78
  switch i32 %42, label %118 [
    i32 8, label %90
    i32 4, label %93
    i32 1, label %97
  ]

90:                                               ; preds = %89
  %91 = and i64 %66, 1
  %92 = getelementptr inbounds i64, ptr %19, i64 %59
  store i64 %91, ptr %92, align 8
  br label %118

93:                                               ; preds = %89
  %94 = trunc i64 %66 to i32
  %95 = and i32 %94, 1
  %96 = getelementptr inbounds i32, ptr %19, i64 %59
  store i32 %95, ptr %96, align 4
  br label %118

97:                                               ; preds = %89
  br i1 %57, label %109, label %98

98:                                               ; preds = %97, %104
  %99 = phi i8 [ %107, %104 ], [ %56, %97 ]
  %100 = phi ptr [ %106, %104 ], [ @.str.19, %97 ]
  %101 = phi ptr [ %105, %104 ], [ %48, %97 ]
  %102 = load i8, ptr %100, align 1
  %103 = icmp eq i8 %99, %102
  br i1 %103, label %104, label %109

104:                                              ; preds = %98
  %105 = getelementptr inbounds i8, ptr %101, i64 1
  %106 = getelementptr inbounds i8, ptr %100, i64 1
  %107 = load i8, ptr %105, align 1
  %108 = icmp eq i8 %107, 0
  br i1 %108, label %109, label %98, !llvm.loop !6

109:                                              ; preds = %104, %98, %97
  %110 = phi ptr [ @.str.19, %97 ], [ %106, %104 ], [ %100, %98 ]
  %111 = phi i8 [ 0, %97 ], [ 0, %104 ], [ %99, %98 ]
  %112 = load i8, ptr %110, align 1
  %113 = icmp eq i8 %111, %112
  %114 = and i64 %66, 1
  %115 = select i1 %113, i64 %114, i64 %66
  %116 = trunc i64 %115 to i8
  %117 = getelementptr inbounds i8, ptr %19, i64 %59
  store i8 %116, ptr %117, align 1
  br label %118

118:                                              ; preds = %109, %93, %90, %89, %83
  %119 = add nuw nsw i64 %59, 1
  %120 = icmp eq i64 %119, %44
  br i1 %120, label %121, label %58, !llvm.loop !30

121:                                              ; preds = %118, %40, %36
  %122 = icmp sgt i64 %37, 9223372036854775743
  br i1 %122, label %127, label %123

123:                                              ; preds = %121
  %124 = add nsw i64 %37, 63
  %125 = sdiv i64 %124, 64
  %126 = shl nsw i64 %125, 6
  br label %127

127:                                              ; preds = %121, %123
  %128 = phi i64 [ %126, %123 ], [ 9223372036854775807, %121 ]
  %129 = getelementptr inbounds i8, ptr %19, i64 %128
  %130 = add nuw nsw i64 %18, 1
  %131 = icmp eq i64 %130, %8
  br i1 %131, label %16, label %17, !llvm.loop !31
}

declare i64 @getauxval(i64 noundef) local_unnamed_addr #5

declare extern_weak i32 @pthread_join(i64 noundef, ptr noundef) #5

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare nonnull ptr @llvm.threadlocal.address.p0(ptr nonnull) #14

; Function Attrs: nounwind
define internal void @run_task(ptr noundef %0, i32 noundef %1) #0 {
  %3 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %4 = load ptr, ptr %3, align 8
  %5 = load ptr, ptr %0, align 8
  %6 = getelementptr inbounds %struct.context, ptr %5, i64 0, i32 3
  %7 = load ptr, ptr %6, align 8
  %8 = zext i32 %1 to i64
  %9 = getelementptr inbounds %struct.context, ptr %7, i64 %8
  %10 = getelementptr inbounds %struct.context, ptr %5, i64 0, i32 2
  %11 = load ptr, ptr %10, align 8
  %12 = getelementptr inbounds %struct.context, ptr %5, i64 0, i32 4
  %13 = load i64, ptr %12, align 8
  %14 = mul nsw i64 %13, %8
  %15 = getelementptr inbounds i8, ptr %11, i64 %14
  store ptr %15, ptr %9, align 8
  %16 = load ptr, ptr %0, align 8
  %17 = getelementptr inbounds %struct.context, ptr %16, i64 0, i32 4
  %18 = load i64, ptr %17, align 8
  %19 = getelementptr inbounds i8, ptr %15, i64 %18
  %20 = getelementptr inbounds %struct.context, ptr %7, i64 %8, i32 1
  store ptr %19, ptr %20, align 8
  %21 = getelementptr inbounds %struct.context, ptr %7, i64 %8, i32 2
  store ptr null, ptr %21, align 8
  store ptr %9, ptr %3, align 8
  %22 = getelementptr inbounds %struct.loop, ptr %0, i64 0, i32 1
  %23 = load ptr, ptr %22, align 8
  %24 = getelementptr inbounds %struct.loop, ptr %0, i64 0, i32 3
  %25 = getelementptr inbounds %struct.loop, ptr %0, i64 0, i32 2
  %26 = load ptr, ptr %25, align 8
  %27 = tail call i32 %23(i32 noundef %1, ptr noundef nonnull %24, ptr noundef %26) #17
  %28 = icmp eq i32 %27, 0
  br i1 %28, label %31, label %29

29:                                               ; preds = %2
  %30 = getelementptr inbounds %struct.loop, ptr %0, i64 0, i32 4
  store atomic i32 1, ptr %30 monotonic, align 8
  br label %31

31:                                               ; preds = %29, %2
  store ptr %4, ptr %3, align 8
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare { i64, i1 } @llvm.sadd.with.overflow.i64(i64, i64) #14

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare { i64, i1 } @llvm.ssub.with.overflow.i64(i64, i64) #14

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64) #14

; Function Attrs: nofree nosync nounwind memory(argmem: read)
define internal fastcc i64 @copies_bytes(ptr nocapture noundef readonly %0) unnamed_addr #11 {
  %2 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 13), align 4
  %3 = icmp ne i32 %2, 0
  %4 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %5 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %6 = add i32 %5, %4
  %7 = icmp ne i32 %6, 0
  %8 = select i1 %3, i1 %7, i1 false
  br i1 %8, label %9, label %15

9:                                                ; preds = %1
  %10 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %11 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 5), align 4
  %12 = add i32 %2, -1
  %13 = zext i32 %12 to i64
  %14 = getelementptr inbounds i64, ptr %0, i64 %13
  br label %17

15:                                               ; preds = %97, %1
  %16 = phi i64 [ 0, %1 ], [ %98, %97 ]
  ret i64 %16

17:                                               ; preds = %9, %97
  %18 = phi i32 [ 0, %9 ], [ %99, %97 ]
  %19 = phi i64 [ 0, %9 ], [ %98, %97 ]
  %20 = icmp ult i32 %18, %4
  %21 = select i1 %20, i32 0, i32 %4
  %22 = sub i32 %18, %21
  %23 = select i1 %20, i32 %10, i32 %11
  %24 = zext i32 %23 to i64
  %25 = getelementptr inbounds i8, ptr @model_plan, i64 %24
  %26 = zext i32 %22 to i64
  %27 = getelementptr inbounds %struct.plan_tensor, ptr %25, i64 %26
  %28 = getelementptr inbounds %struct.plan_tensor, ptr %27, i64 0, i32 5
  %29 = load i32, ptr %28, align 4
  switch i32 %29, label %30 [
    i32 0, label %97
    i32 1, label %50
  ]

30:                                               ; preds = %17
  %31 = add i32 %29, -1
  %32 = zext i32 %31 to i64
  br label %33

33:                                               ; preds = %44, %30
  %34 = phi i64 [ 0, %30 ], [ %36, %44 ]
  %35 = phi i64 [ 1, %30 ], [ %46, %44 ]
  %36 = add nuw nsw i64 %34, 1
  %37 = getelementptr inbounds %struct.plan_tensor, ptr %27, i64 0, i32 8, i64 %34
  %38 = load i64, ptr %37, align 8
  %39 = icmp slt i64 %38, 0
  br i1 %39, label %40, label %44

40:                                               ; preds = %33
  %41 = xor i64 %38, -1
  %42 = getelementptr inbounds i64, ptr %0, i64 %41
  %43 = load i64, ptr %42, align 8
  br label %44

44:                                               ; preds = %40, %33
  %45 = phi i64 [ %43, %40 ], [ %38, %33 ]
  %46 = mul nsw i64 %45, %35
  %47 = icmp eq i64 %36, %32
  br i1 %47, label %48, label %33, !llvm.loop !24

48:                                               ; preds = %44
  %49 = icmp eq i64 %46, 1
  br i1 %49, label %50, label %71

50:                                               ; preds = %17, %48
  %51 = load i64, ptr %14, align 8
  %52 = icmp eq i64 %51, 0
  br i1 %52, label %64, label %53

53:                                               ; preds = %50
  %54 = getelementptr inbounds %struct.plan_tensor, ptr %27, i64 0, i32 9
  %55 = load i64, ptr %54, align 8
  %56 = icmp slt i64 %55, 0
  br i1 %56, label %57, label %61

57:                                               ; preds = %53
  %58 = xor i64 %55, -1
  %59 = getelementptr inbounds i64, ptr %0, i64 %58
  %60 = load i64, ptr %59, align 8
  br label %61

61:                                               ; preds = %57, %53
  %62 = phi i64 [ %60, %57 ], [ %55, %53 ]
  %63 = sdiv i64 %62, %51
  br label %64

64:                                               ; preds = %50, %61
  %65 = phi i64 [ %63, %61 ], [ 0, %50 ]
  %66 = getelementptr inbounds %struct.plan_tensor, ptr %27, i64 0, i32 3
  %67 = load i32, ptr %66, align 4
  %68 = zext i32 %67 to i64
  %69 = srem i64 %65, %68
  %70 = icmp eq i64 %69, 0
  br i1 %70, label %97, label %71

71:                                               ; preds = %64, %48
  %72 = load i64, ptr %14, align 8
  %73 = icmp eq i64 %72, 0
  br i1 %73, label %86, label %74

74:                                               ; preds = %71
  %75 = getelementptr inbounds %struct.plan_tensor, ptr %27, i64 0, i32 9
  %76 = load i64, ptr %75, align 8
  %77 = icmp slt i64 %76, 0
  br i1 %77, label %78, label %82

78:                                               ; preds = %74
  %79 = xor i64 %76, -1
  %80 = getelementptr inbounds i64, ptr %0, i64 %79
  %81 = load i64, ptr %80, align 8
  br label %82

82:                                               ; preds = %74, %78
  %83 = phi i64 [ %81, %78 ], [ %76, %74 ]
  %84 = sdiv i64 %83, %72
  %85 = icmp sgt i64 %84, 9223372036854775743
  br i1 %85, label %91, label %86

86:                                               ; preds = %71, %82
  %87 = phi i64 [ %84, %82 ], [ 0, %71 ]
  %88 = add nsw i64 %87, 63
  %89 = sdiv i64 %88, 64
  %90 = shl nsw i64 %89, 6
  br label %91

91:                                               ; preds = %82, %86
  %92 = phi i64 [ %90, %86 ], [ 9223372036854775807, %82 ]
  %93 = tail call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %19, i64 %92)
  %94 = extractvalue { i64, i1 } %93, 1
  %95 = extractvalue { i64, i1 } %93, 0
  %96 = select i1 %94, i64 9223372036854775807, i64 %95
  br label %97

97:                                               ; preds = %17, %64, %91
  %98 = phi i64 [ %96, %91 ], [ %19, %64 ], [ %19, %17 ]
  %99 = add nuw i32 %18, 1
  %100 = icmp ugt i32 %6, %99
  br i1 %100, label %17, label %15, !llvm.loop !32
}

; Function Attrs: nounwind
define internal fastcc i32 @run_steps(ptr nocapture noundef %0) unnamed_addr #0 {
  %2 = alloca %struct.argument, align 8
  %3 = load ptr, ptr %0, align 8
  %4 = getelementptr inbounds %struct.plan_code, ptr %3, i64 0, i32 2
  %5 = load i32, ptr %4, align 8
  %6 = zext i32 %5 to i64
  %7 = getelementptr inbounds i8, ptr @model_plan, i64 %6
  %8 = getelementptr inbounds %struct.plan_code, ptr %3, i64 0, i32 3
  %9 = load i32, ptr %8, align 4
  %10 = zext i32 %9 to i64
  %11 = getelementptr inbounds i32, ptr %7, i64 %10
  %12 = icmp eq i32 %9, 0
  br i1 %12, label %369, label %13

13:                                               ; preds = %1
  %14 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 4
  %15 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %16 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 2
  %17 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 1
  %18 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 3
  %19 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 6
  %20 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 7
  %21 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 5
  %22 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 8
  %23 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 9
  %24 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 10
  br label %25

25:                                               ; preds = %13, %367
  %26 = phi i32 [ 0, %13 ], [ %233, %367 ]
  %27 = phi ptr [ %7, %13 ], [ %232, %367 ]
  %28 = load i32, ptr %27, align 4
  %29 = icmp eq i32 %28, 0
  %30 = getelementptr inbounds i32, ptr %27, i64 1
  %31 = load ptr, ptr %0, align 8
  br i1 %29, label %32, label %150

32:                                               ; preds = %25
  %33 = getelementptr inbounds %struct.plan_code, ptr %31, i64 0, i32 5
  %34 = load i32, ptr %33, align 4
  %35 = zext i32 %34 to i64
  %36 = getelementptr inbounds i8, ptr @model_plan, i64 %35
  %37 = load i32, ptr %30, align 4
  %38 = zext i32 %37 to i64
  %39 = getelementptr inbounds i32, ptr %36, i64 %38
  %40 = getelementptr inbounds %struct.plan_code, ptr %31, i64 0, i32 4
  %41 = load i32, ptr %40, align 8
  %42 = zext i32 %41 to i64
  %43 = getelementptr inbounds i8, ptr @model_plan, i64 %42
  %44 = load i32, ptr %39, align 4
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %2) #18
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %2, i8 0, i64 16, i1 false)
  %45 = getelementptr inbounds i32, ptr %27, i64 2
  %46 = load i32, ptr %45, align 4
  %47 = icmp eq i32 %46, 0
  br i1 %47, label %139, label %48

48:                                               ; preds = %32
  %49 = zext i32 %46 to i64
  br label %50

50:                                               ; preds = %136, %48
  %51 = phi i64 [ 0, %48 ], [ %137, %136 ]
  %52 = add nuw nsw i64 %51, 2
  %53 = and i64 %52, 4294967295
  %54 = getelementptr inbounds i32, ptr %30, i64 %53
  %55 = load i32, ptr %54, align 4
  %56 = zext i32 %55 to i64
  %57 = getelementptr inbounds %struct.plan_place, ptr %43, i64 %56
  %58 = load ptr, ptr %19, align 8
  %59 = load ptr, ptr %20, align 8
  %60 = getelementptr inbounds %struct.argument, ptr %59, i64 %51
  %61 = load i32, ptr %57, align 8
  %62 = icmp eq i32 %61, 2
  br i1 %62, label %63, label %75

63:                                               ; preds = %50
  store i32 1, ptr %60, align 8
  %64 = getelementptr inbounds %struct.plan_place, ptr %43, i64 %56, i32 7
  %65 = load i64, ptr %64, align 8
  %66 = icmp slt i64 %65, 0
  br i1 %66, label %67, label %72

67:                                               ; preds = %63
  %68 = load ptr, ptr %18, align 8
  %69 = xor i64 %65, -1
  %70 = getelementptr inbounds i64, ptr %68, i64 %69
  %71 = load i64, ptr %70, align 8
  br label %72

72:                                               ; preds = %67, %63
  %73 = phi i64 [ %71, %67 ], [ %65, %63 ]
  %74 = getelementptr inbounds %struct.argument, ptr %59, i64 %51, i32 2
  store i64 %73, ptr %74, align 8
  br label %136

75:                                               ; preds = %50
  %76 = getelementptr inbounds %struct.tensor, ptr %58, i64 %51
  store i32 7, ptr %60, align 8
  %77 = getelementptr inbounds %struct.argument, ptr %59, i64 %51, i32 2
  store ptr %76, ptr %77, align 8
  switch i32 %61, label %78 [
    i32 0, label %93
    i32 1, label %90
  ]

78:                                               ; preds = %75
  %79 = add i32 %61, -3
  %80 = icmp ult i32 %79, %15
  br i1 %80, label %81, label %85

81:                                               ; preds = %78
  %82 = load ptr, ptr %17, align 8
  %83 = zext i32 %79 to i64
  %84 = getelementptr inbounds %struct.model_buffer, ptr %82, i64 %83
  br label %90

85:                                               ; preds = %78
  %86 = load ptr, ptr %16, align 8
  %87 = sub i32 %79, %15
  %88 = zext i32 %87 to i64
  %89 = getelementptr inbounds %struct.model_buffer, ptr %86, i64 %88
  br label %90

90:                                               ; preds = %85, %81, %75
  %91 = phi ptr [ %89, %85 ], [ %84, %81 ], [ %14, %75 ]
  %92 = load ptr, ptr %91, align 8
  br label %93

93:                                               ; preds = %90, %75
  %94 = phi ptr [ @model_plan, %75 ], [ %92, %90 ]
  %95 = getelementptr inbounds %struct.plan_place, ptr %57, i64 0, i32 7
  %96 = load i64, ptr %95, align 8
  %97 = icmp slt i64 %96, 0
  br i1 %97, label %98, label %103

98:                                               ; preds = %93
  %99 = load ptr, ptr %18, align 8
  %100 = xor i64 %96, -1
  %101 = getelementptr inbounds i64, ptr %99, i64 %100
  %102 = load i64, ptr %101, align 8
  br label %103

103:                                              ; preds = %98, %93
  %104 = phi i64 [ %102, %98 ], [ %96, %93 ]
  %105 = getelementptr inbounds i8, ptr %94, i64 %104
  store ptr %105, ptr %76, align 8
  %106 = getelementptr inbounds %struct.plan_place, ptr %43, i64 %56, i32 1
  %107 = load i16, ptr %106, align 4
  %108 = zext i16 %107 to i32
  %109 = getelementptr inbounds %struct.tensor, ptr %58, i64 %51, i32 3
  store i32 %108, ptr %109, align 8
  %110 = getelementptr inbounds %struct.plan_place, ptr %43, i64 %56, i32 3
  %111 = load i8, ptr %110, align 8
  %112 = getelementptr inbounds %struct.tensor, ptr %58, i64 %51, i32 4
  store i8 %111, ptr %112, align 4
  %113 = getelementptr inbounds %struct.plan_place, ptr %43, i64 %56, i32 4
  %114 = load i8, ptr %113, align 1
  %115 = getelementptr inbounds %struct.tensor, ptr %58, i64 %51, i32 5
  store i8 %114, ptr %115, align 1
  %116 = getelementptr inbounds %struct.plan_place, ptr %43, i64 %56, i32 5
  %117 = load i16, ptr %116, align 2
  %118 = getelementptr inbounds %struct.tensor, ptr %58, i64 %51, i32 6
  store i16 %117, ptr %118, align 2
  %119 = getelementptr inbounds %struct.plan_place, ptr %43, i64 %56, i32 2
  %120 = load i16, ptr %119, align 2
  %121 = icmp eq i16 %120, 0
  br i1 %121, label %128, label %122

122:                                              ; preds = %103
  %123 = load ptr, ptr %18, align 8
  %124 = getelementptr inbounds %struct.plan_place, ptr %43, i64 %56, i32 6
  %125 = load i32, ptr %124, align 4
  %126 = zext i32 %125 to i64
  %127 = getelementptr inbounds i64, ptr %123, i64 %126
  br label %133

128:                                              ; preds = %103
  %129 = getelementptr inbounds %struct.plan_place, ptr %43, i64 %56, i32 6
  %130 = load i32, ptr %129, align 4
  %131 = zext i32 %130 to i64
  %132 = getelementptr inbounds i8, ptr @model_plan, i64 %131
  br label %133

133:                                              ; preds = %128, %122
  %134 = phi ptr [ %127, %122 ], [ %132, %128 ]
  %135 = getelementptr inbounds %struct.tensor, ptr %58, i64 %51, i32 7
  store ptr %134, ptr %135, align 8
  br label %136

136:                                              ; preds = %133, %72
  %137 = add nuw nsw i64 %51, 1
  %138 = icmp eq i64 %137, %49
  br i1 %138, label %139, label %50, !llvm.loop !33

139:                                              ; preds = %136, %32
  %140 = sext i32 %44 to i64
  %141 = getelementptr inbounds i8, ptr %39, i64 %140
  %142 = load ptr, ptr %21, align 8
  %143 = load ptr, ptr %22, align 8
  store ptr %142, ptr %143, align 8
  %144 = load ptr, ptr %20, align 8
  %145 = call i32 %141(ptr noundef null, ptr noundef %144, i32 noundef %46, ptr noundef nonnull %2) #17
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %2) #18
  %146 = icmp eq i32 %145, 0
  br i1 %146, label %147, label %369

147:                                              ; preds = %139
  %148 = add i32 %46, 3
  %149 = zext i32 %148 to i64
  br label %230

150:                                              ; preds = %25
  %151 = getelementptr inbounds %struct.plan_code, ptr %31, i64 0, i32 4
  %152 = load i32, ptr %151, align 8
  %153 = zext i32 %152 to i64
  %154 = getelementptr inbounds i8, ptr @model_plan, i64 %153
  %155 = getelementptr inbounds i32, ptr %27, i64 2
  %156 = load i32, ptr %155, align 4
  %157 = zext i32 %156 to i64
  %158 = getelementptr inbounds %struct.plan_place, ptr %154, i64 %157
  %159 = load i32, ptr %158, align 8
  switch i32 %159, label %160 [
    i32 0, label %175
    i32 1, label %172
  ]

160:                                              ; preds = %150
  %161 = add i32 %159, -3
  %162 = icmp ult i32 %161, %15
  br i1 %162, label %163, label %167

163:                                              ; preds = %160
  %164 = load ptr, ptr %17, align 8
  %165 = zext i32 %161 to i64
  %166 = getelementptr inbounds %struct.model_buffer, ptr %164, i64 %165
  br label %172

167:                                              ; preds = %160
  %168 = load ptr, ptr %16, align 8
  %169 = sub i32 %161, %15
  %170 = zext i32 %169 to i64
  %171 = getelementptr inbounds %struct.model_buffer, ptr %168, i64 %170
  br label %172

172:                                              ; preds = %150, %167, %163
  %173 = phi ptr [ %171, %167 ], [ %166, %163 ], [ %14, %150 ]
  %174 = load ptr, ptr %173, align 8
  br label %175

175:                                              ; preds = %172, %150
  %176 = phi ptr [ @model_plan, %150 ], [ %174, %172 ]
  %177 = getelementptr inbounds %struct.plan_place, ptr %158, i64 0, i32 7
  %178 = load i64, ptr %177, align 8
  %179 = icmp slt i64 %178, 0
  br i1 %179, label %180, label %185

180:                                              ; preds = %175
  %181 = load ptr, ptr %18, align 8
  %182 = xor i64 %178, -1
  %183 = getelementptr inbounds i64, ptr %181, i64 %182
  %184 = load i64, ptr %183, align 8
  br label %185

185:                                              ; preds = %180, %175
  %186 = phi i64 [ %184, %180 ], [ %178, %175 ]
  %187 = load i32, ptr %30, align 4
  %188 = zext i32 %187 to i64
  %189 = getelementptr inbounds %struct.plan_place, ptr %154, i64 %188
  %190 = load i32, ptr %189, align 8
  switch i32 %190, label %191 [
    i32 0, label %206
    i32 1, label %203
  ]

191:                                              ; preds = %185
  %192 = add i32 %190, -3
  %193 = icmp ult i32 %192, %15
  br i1 %193, label %194, label %198

194:                                              ; preds = %191
  %195 = load ptr, ptr %17, align 8
  %196 = zext i32 %192 to i64
  %197 = getelementptr inbounds %struct.model_buffer, ptr %195, i64 %196
  br label %203

198:                                              ; preds = %191
  %199 = load ptr, ptr %16, align 8
  %200 = sub i32 %192, %15
  %201 = zext i32 %200 to i64
  %202 = getelementptr inbounds %struct.model_buffer, ptr %199, i64 %201
  br label %203

203:                                              ; preds = %185, %198, %194
  %204 = phi ptr [ %202, %198 ], [ %197, %194 ], [ %14, %185 ]
  %205 = load ptr, ptr %204, align 8
  br label %206

206:                                              ; preds = %203, %185
  %207 = phi ptr [ @model_plan, %185 ], [ %205, %203 ]
  %208 = getelementptr inbounds %struct.plan_place, ptr %189, i64 0, i32 7
  %209 = load i64, ptr %208, align 8
  %210 = icmp slt i64 %209, 0
  br i1 %210, label %211, label %216

211:                                              ; preds = %206
  %212 = load ptr, ptr %18, align 8
  %213 = xor i64 %209, -1
  %214 = getelementptr inbounds i64, ptr %212, i64 %213
  %215 = load i64, ptr %214, align 8
  br label %216

216:                                              ; preds = %211, %206
  %217 = phi i64 [ %215, %211 ], [ %209, %206 ]
  %218 = getelementptr inbounds %struct.plan_place, ptr %154, i64 %188, i32 8
  %219 = load i64, ptr %218, align 8
  %220 = icmp slt i64 %219, 0
  br i1 %220, label %221, label %226

221:                                              ; preds = %216
  %222 = load ptr, ptr %18, align 8
  %223 = xor i64 %219, -1
  %224 = getelementptr inbounds i64, ptr %222, i64 %223
  %225 = load i64, ptr %224, align 8
  br label %226

226:                                              ; preds = %216, %221
  %227 = phi i64 [ %225, %221 ], [ %219, %216 ]
  %228 = getelementptr inbounds i8, ptr %207, i64 %217
  %229 = getelementptr inbounds i8, ptr %176, i64 %186
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %229, ptr align 1 %228, i64 %227, i1 false)
  br label %230

230:                                              ; preds = %226, %147
  %231 = phi i64 [ 3, %226 ], [ %149, %147 ]
  %232 = getelementptr inbounds i32, ptr %27, i64 %231
  %233 = add i32 %26, 1
  %234 = load ptr, ptr %24, align 8
  %235 = load ptr, ptr %23, align 8
  %236 = icmp ult ptr %235, %234
  br i1 %236, label %237, label %367

237:                                              ; preds = %230, %364
  %238 = phi ptr [ %365, %364 ], [ %235, %230 ]
  %239 = load i32, ptr %238, align 8
  %240 = icmp eq i32 %239, %233
  br i1 %240, label %241, label %367

241:                                              ; preds = %237
  %242 = load ptr, ptr %0, align 8
  %243 = getelementptr inbounds %struct.plan_code, ptr %242, i64 0, i32 4
  %244 = load i32, ptr %243, align 8
  %245 = zext i32 %244 to i64
  %246 = getelementptr inbounds i8, ptr @model_plan, i64 %245
  %247 = getelementptr inbounds %struct.plan_golden, ptr %238, i64 0, i32 1
  %248 = load i32, ptr %247, align 4
  %249 = zext i32 %248 to i64
  %250 = getelementptr inbounds %struct.plan_place, ptr %246, i64 %249
  %251 = load i32, ptr %250, align 8
  switch i32 %251, label %252 [
    i32 0, label %267
    i32 1, label %264
  ]

252:                                              ; preds = %241
  %253 = add i32 %251, -3
  %254 = icmp ult i32 %253, %15
  br i1 %254, label %255, label %259

255:                                              ; preds = %252
  %256 = load ptr, ptr %17, align 8
  %257 = zext i32 %253 to i64
  %258 = getelementptr inbounds %struct.model_buffer, ptr %256, i64 %257
  br label %264

259:                                              ; preds = %252
  %260 = load ptr, ptr %16, align 8
  %261 = sub i32 %253, %15
  %262 = zext i32 %261 to i64
  %263 = getelementptr inbounds %struct.model_buffer, ptr %260, i64 %262
  br label %264

264:                                              ; preds = %241, %259, %255
  %265 = phi ptr [ %263, %259 ], [ %258, %255 ], [ %14, %241 ]
  %266 = load ptr, ptr %265, align 8
  br label %267

267:                                              ; preds = %264, %241
  %268 = phi ptr [ @model_plan, %241 ], [ %266, %264 ]
  %269 = getelementptr inbounds %struct.plan_place, ptr %250, i64 0, i32 7
  %270 = load i64, ptr %269, align 8
  %271 = icmp slt i64 %270, 0
  br i1 %271, label %272, label %277

272:                                              ; preds = %267
  %273 = load ptr, ptr %18, align 8
  %274 = xor i64 %270, -1
  %275 = getelementptr inbounds i64, ptr %273, i64 %274
  %276 = load i64, ptr %275, align 8
  br label %277

277:                                              ; preds = %272, %267
  %278 = phi i64 [ %276, %272 ], [ %270, %267 ]
  %279 = getelementptr inbounds i8, ptr %268, i64 %278
  %280 = getelementptr inbounds %struct.plan_place, ptr %246, i64 %249, i32 8
  %281 = load i64, ptr %280, align 8
  %282 = icmp slt i64 %281, 0
  br i1 %282, label %283, label %288

283:                                              ; preds = %277
  %284 = load ptr, ptr %18, align 8
  %285 = xor i64 %281, -1
  %286 = getelementptr inbounds i64, ptr %284, i64 %285
  %287 = load i64, ptr %286, align 8
  br label %288

288:                                              ; preds = %283, %277
  %289 = phi i64 [ %287, %283 ], [ %281, %277 ]
  %290 = icmp sgt i64 %289, 0
  br i1 %290, label %291, label %355

291:                                              ; preds = %288
  %292 = icmp eq i64 %289, 1
  br i1 %292, label %333, label %293

293:                                              ; preds = %291
  %294 = and i64 %289, -2
  br label %295

295:                                              ; preds = %295, %293
  %296 = phi i64 [ 0, %293 ], [ %328, %295 ]
  %297 = phi i64 [ 0, %293 ], [ %326, %295 ]
  %298 = phi i64 [ 0, %293 ], [ %327, %295 ]
  %299 = or i64 %296, 1
  %300 = getelementptr inbounds i8, ptr %279, i64 %296
  %301 = getelementptr inbounds i8, ptr %279, i64 %299
  %302 = load i8, ptr %300, align 1
  %303 = load i8, ptr %301, align 1
  %304 = zext i8 %302 to i64
  %305 = zext i8 %303 to i64
  %306 = add nuw nsw i64 %304, 1
  %307 = add nuw nsw i64 %305, 1
  %308 = mul i64 %296, -7046029254386353131
  %309 = mul i64 %299, -7046029254386353131
  %310 = add i64 %308, -7046029254386353131
  %311 = add i64 %309, -7046029254386353131
  %312 = lshr i64 %310, 29
  %313 = lshr i64 %311, 29
  %314 = xor i64 %312, %310
  %315 = xor i64 %313, %311
  %316 = mul i64 %314, -4658895280553007687
  %317 = mul i64 %315, -4658895280553007687
  %318 = lshr i64 %316, 32
  %319 = lshr i64 %317, 32
  %320 = xor i64 %318, %316
  %321 = xor i64 %319, %317
  %322 = or i64 %320, 1
  %323 = or i64 %321, 1
  %324 = mul i64 %322, %306
  %325 = mul i64 %323, %307
  %326 = add i64 %324, %297
  %327 = add i64 %325, %298
  %328 = add nuw i64 %296, 2
  %329 = icmp eq i64 %328, %294
  br i1 %329, label %330, label %295, !llvm.loop !34

330:                                              ; preds = %295
  %331 = add i64 %327, %326
  %332 = icmp eq i64 %289, %294
  br i1 %332, label %355, label %333

333:                                              ; preds = %291, %330
  %334 = phi i64 [ 0, %291 ], [ %294, %330 ]
  %335 = phi i64 [ 0, %291 ], [ %331, %330 ]
  br label %336

336:                                              ; preds = %333, %336
  %337 = phi i64 [ %353, %336 ], [ %334, %333 ]
  %338 = phi i64 [ %352, %336 ], [ %335, %333 ]
  %339 = getelementptr inbounds i8, ptr %279, i64 %337
  %340 = load i8, ptr %339, align 1
  %341 = zext i8 %340 to i64
  %342 = add nuw nsw i64 %341, 1
  %343 = mul i64 %337, -7046029254386353131
  %344 = add i64 %343, -7046029254386353131
  %345 = lshr i64 %344, 29
  %346 = xor i64 %345, %344
  %347 = mul i64 %346, -4658895280553007687
  %348 = lshr i64 %347, 32
  %349 = xor i64 %348, %347
  %350 = or i64 %349, 1
  %351 = mul i64 %350, %342
  %352 = add i64 %351, %338
  %353 = add nuw nsw i64 %337, 1
  %354 = icmp eq i64 %353, %289
  br i1 %354, label %355, label %336, !llvm.loop !37

355:                                              ; preds = %336, %330, %288
  %356 = phi i64 [ 0, %288 ], [ %331, %330 ], [ %352, %336 ]
  %357 = getelementptr inbounds %struct.plan_golden, ptr %238, i64 0, i32 4
  %358 = load i64, ptr %357, align 8
  %359 = icmp eq i64 %356, %358
  br i1 %359, label %364, label %360

360:                                              ; preds = %355
  %361 = getelementptr inbounds %struct.plan_golden, ptr %238, i64 0, i32 4, i64 1
  %362 = load i64, ptr %361, align 8
  %363 = icmp eq i64 %356, %362
  br i1 %363, label %364, label %369

364:                                              ; preds = %355, %360
  %365 = getelementptr inbounds %struct.plan_golden, ptr %238, i64 1
  store ptr %365, ptr %23, align 8
  %366 = icmp ult ptr %365, %234
  br i1 %366, label %237, label %367, !llvm.loop !38

367:                                              ; preds = %237, %364, %230
  %368 = icmp ult ptr %232, %11
  br i1 %368, label %25, label %369, !llvm.loop !39

369:                                              ; preds = %139, %367, %360, %1
  %370 = phi i32 [ 0, %1 ], [ -13, %360 ], [ -10, %139 ], [ 0, %367 ]
  ret i32 %370
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.smax.i64(i64, i64) #15

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.smin.i64(i64, i64) #15

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.umin.i64(i64, i64) #15

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: read)
declare ptr @llvm.load.relative.i64(ptr, i64) #16

attributes #0 = { nounwind "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #1 = { mustprogress nofree norecurse nosync nounwind willreturn memory(none) "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #2 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #3 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #4 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #5 = { "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #6 = { mustprogress nofree nosync nounwind willreturn memory(readwrite, inaccessiblemem: none) "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #7 = { mustprogress nofree norecurse nounwind willreturn memory(readwrite, inaccessiblemem: none) "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #8 = { mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: write) "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #9 = { nofree nosync nounwind memory(write, argmem: readwrite, inaccessiblemem: none) "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #10 = { nofree nounwind memory(readwrite, inaccessiblemem: none) "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #11 = { nofree nosync nounwind memory(argmem: read) "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #12 = { nofree norecurse nosync nounwind memory(read, inaccessiblemem: none) "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #13 = { nofree norecurse nosync nounwind memory(write, argmem: readwrite, inaccessiblemem: none) "frame-pointer"="non-leaf" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="generic" "target-features"="+fp-armv8,+neon,+v8a,-fmv,-outline-atomics" }
attributes #14 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #15 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #16 = { nocallback nofree nosync nounwind willreturn memory(argmem: read) }
attributes #17 = { nobuiltin nounwind "no-builtins" }
attributes #18 = { nounwind }
attributes #19 = { nounwind memory(none) }
attributes #20 = { nobuiltin "no-builtins" }

!llvm.module.flags = !{!0, !1, !2}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 8, !"PIC Level", i32 2}
!2 = !{i32 7, !"frame-pointer", i32 1}
!3 = distinct !{!3, !4}
!4 = !{!"llvm.loop.mustprogress"}
!5 = distinct !{!5, !4}
!6 = distinct !{!6, !4}
!7 = !{i64 78960}
!8 = !{i64 78216}
!9 = distinct !{!9, !4}
!10 = !{i64 78375}
!11 = distinct !{!11, !4}
!12 = distinct !{!12, !4}
!13 = distinct !{!13, !4}
!14 = distinct !{!14, !4}
!15 = distinct !{!15, !4}
!16 = distinct !{!16, !4}
!17 = distinct !{!17, !4}
!18 = distinct !{!18, !4}
!19 = distinct !{!19, !4}
!20 = distinct !{!20, !4}
!21 = distinct !{!21, !4}
!22 = distinct !{!22, !4}
!23 = distinct !{!23, !4}
!24 = distinct !{!24, !4}
!25 = distinct !{!25, !4}
!26 = distinct !{!26, !4}
!27 = distinct !{!27, !4}
!28 = distinct !{!28, !4}
!29 = distinct !{!29, !4}
!30 = distinct !{!30, !4}
!31 = distinct !{!31, !4}
!32 = distinct !{!32, !4}
!33 = distinct !{!33, !4}
!34 = distinct !{!34, !4, !35, !36}
!35 = !{!"llvm.loop.isvectorized", i32 1}
!36 = !{!"llvm.loop.unroll.runtime.disable"}
!37 = distinct !{!37, !4, !35}
!38 = distinct !{!38, !4}
!39 = distinct !{!39, !4}
